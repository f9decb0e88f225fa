package main

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func transactions(adm *kadm.Client) {
	topic := makeTopic(adm, "transactions", 2)
	id := run + "-id"
	writer := client(kgo.TransactionalID(id), kgo.DefaultProduceTopic(topic))
	for i, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort, kgo.TryCommit} {
		say("begin", name(writer.BeginTransaction()))
		for n := 0; n < 5; n++ {
			if err := writer.ProduceSync(ctx, kgo.StringRecord(fmt.Sprint(i))).FirstErr(); err != nil {
				say("produce", name(err))
			}
		}
		if i == 2 {
			described, err := adm.DescribeTransactions(ctx, id)
			say("describe", name(err), described[id].State, len(described[id].Topics))
			listed, err := adm.ListTransactions(ctx, nil, []string{"Ongoing"})
			say("list", name(err), listed[id].State)
			producers, err := adm.DescribeProducers(ctx, described[id].Topics)
			say("producers", name(err), len(producers[topic].Partitions) > 0)
		}
		say("end", bool(end), name(writer.EndTransaction(ctx, end)))
	}
	read := func(step string, level kgo.IsolationLevel, count int) {
		cl := client(kgo.ConsumeTopics(topic), kgo.FetchIsolationLevel(level), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
		defer cl.Close()
		counts := map[string]int{}
		for _, r := range drain(cl, count) {
			counts[string(r.Value)]++
		}
		say(step, counts)
	}
	read("read committed", kgo.ReadCommitted(), 10)
	read("read uncommitted", kgo.ReadUncommitted(), 15)

	say("begin", name(writer.BeginTransaction()))
	say("before the other", name(writer.ProduceSync(ctx, kgo.StringRecord("old")).FirstErr()))
	other := client(kgo.TransactionalID(id), kgo.DefaultProduceTopic(topic))
	say("the other begins", name(other.BeginTransaction()))
	say("the other produces", name(other.ProduceSync(ctx, kgo.StringRecord("new")).FirstErr()))
	say("fenced", name(writer.ProduceSync(ctx, kgo.StringRecord("old")).FirstErr()))
	say("fenced end", name(writer.EndTransaction(ctx, kgo.TryCommit)))
	say("the other ends", name(other.EndTransaction(ctx, kgo.TryCommit)))
	writer.Close()
	other.Close()
	read("after fencing", kgo.ReadCommitted(), 11)
	exactlyOnce(adm, topic)
	if _, err := adm.DeleteTopics(ctx, topic); err != nil {
		say("delete", err)
	}
}

// exactlyOnce copies a topic in transactions with offsets, as a group member.
func exactlyOnce(adm *kadm.Client, topic string) {
	target := makeTopic(adm, "copies", 1)
	group := run + "-eos"
	session, err := kgo.NewGroupTransactSession(kgo.SeedBrokers(servers...), kgo.TransactionalID(run+"-eos"), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DefaultProduceTopic(target), kgo.RequireStableFetchOffsets())
	if err != nil {
		panic(err)
	}
	copied := 0
	for round := 0; copied < 11 && round < 50; round++ {
		few, cancel := contextFor(2e9)
		fetched := session.PollFetches(few).Records()
		cancel()
		if len(fetched) == 0 {
			continue
		}
		if err := session.Begin(); err != nil {
			panic(err)
		}
		for _, r := range fetched {
			session.Produce(ctx, kgo.SliceRecord(r.Value), nil)
		}
		committed, err := session.End(ctx, kgo.TryCommit)
		if err != nil {
			say("session", name(err))
		}
		if committed {
			copied += len(fetched)
		}
	}
	// EndTxn is answered before the markers are written, and offsets count from their marker on.
	lags, err := adm.Lag(ctx, group)
	for again := 0; again < 100 && lags[group].Lag.Total() > 6; again++ {
		time.Sleep(50 * time.Millisecond)
		lags, err = adm.Lag(ctx, group)
	}
	say("copied", copied, name(err), "behind by the markers at most", lags[group].Lag.Total() <= 6)
	session.Close()
	if _, err := adm.DeleteTopics(ctx, target); err != nil {
		say("delete", err)
	}
}
