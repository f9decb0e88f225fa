package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const numbers = 2000

// faults is run while brokers are killed: numbers go through an idempotent producer, are copied by two members
// of a group in transactions, and must come out once each.
func faults(adm *kadm.Client) {
	source, target := makeTopic(adm, "source", 3), makeTopic(adm, "target", 3)
	fmt.Println("ready")
	var work sync.WaitGroup
	work.Add(1)
	go func() { defer work.Done(); produceNumbers(source) }()
	copying, stop := context.WithCancel(ctx)
	for _, member := range []string{"a", "b"} {
		work.Add(1)
		go func() { defer work.Done(); copyNumbers(copying, source, target, member) }()
	}
	counts := readNumbers(target)
	stop()
	work.Wait()
	once, more := 0, 0
	for _, n := range counts {
		if n == 1 {
			once++
		} else {
			more++
		}
	}
	say("numbers", once, "once", more, "more than once")
}

func produceNumbers(source string) {
	cl := client(kgo.DefaultProduceTopic(source), kgo.RecordDeliveryTimeout(2*time.Minute))
	defer cl.Close()
	for i := 0; i < numbers; i++ {
		cl.Produce(ctx, kgo.StringRecord(fmt.Sprint(i)), func(_ *kgo.Record, err error) {
			if err != nil {
				say("produce", name(err))
			}
		})
		time.Sleep(5 * time.Millisecond)
	}
	say("flush", name(cl.Flush(ctx)))
}

func copyNumbers(copying context.Context, source, target, member string) {
	session, err := kgo.NewGroupTransactSession(kgo.SeedBrokers(servers...), kgo.TransactionalID(run+member), kgo.ConsumerGroup(run), kgo.ConsumeTopics(source),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DefaultProduceTopic(target), kgo.RequireStableFetchOffsets(),
		kgo.FetchMaxWait(200*time.Millisecond), kgo.SessionTimeout(10*time.Second))
	if err != nil {
		panic(err)
	}
	defer session.Close()
	for copying.Err() == nil {
		fetched := session.PollFetches(copying).Records()
		if len(fetched) == 0 {
			continue
		}
		if err := session.Begin(); err != nil {
			say("begin", member, err)
			return
		}
		for _, r := range fetched {
			session.Produce(ctx, kgo.SliceRecord(r.Value), nil)
		}
		if _, err := session.End(ctx, kgo.TryCommit); err != nil {
			say("end", member, err)
			return
		}
	}
}

func readNumbers(target string) map[string]int {
	cl := client(kgo.ConsumeTopics(target), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	defer cl.Close()
	counts := map[string]int{}
	for len(counts) < numbers && ctx.Err() == nil {
		for _, r := range cl.PollFetches(ctx).Records() {
			counts[string(r.Value)]++
		}
	}
	few, cancel := contextFor(3 * time.Second) // what came twice comes a moment later
	defer cancel()
	for few.Err() == nil {
		for _, r := range cl.PollFetches(few).Records() {
			counts[string(r.Value)]++
		}
	}
	return counts
}
