package main

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func groups(adm *kadm.Client) {
	topic := makeTopic(adm, "groups", 6)
	producer := client(kgo.DefaultProduceTopic(topic))
	for i := 0; i < 60; i++ {
		producer.Produce(ctx, &kgo.Record{Key: []byte(fmt.Sprint(i)), Value: []byte(fmt.Sprint(i))}, nil)
	}
	say("produced", name(producer.Flush(ctx)))
	producer.Close()
	balancers := map[string]kgo.GroupBalancer{"range": kgo.RangeBalancer(), "roundrobin": kgo.RoundRobinBalancer(), "sticky": kgo.StickyBalancer(), "cooperative-sticky": kgo.CooperativeStickyBalancer()}
	for _, kind := range []string{"range", "roundrobin", "sticky", "cooperative-sticky"} {
		oneGroup(adm, topic, kind, kgo.Balancers(balancers[kind]))
	}
	oneGroup(adm, topic, "static", kgo.Balancers(kgo.CooperativeStickyBalancer()), kgo.InstanceID("here"))
	next := context.WithValue(ctx, "opt_in_kafka_next_gen_balancer_beta", true)
	oneGroup(adm, topic, "consumer-protocol", kgo.WithContext(next), kgo.Balancers(kgo.CooperativeStickyBalancer()))
	if _, err := adm.DeleteTopics(ctx, topic); err != nil {
		say("delete", err)
	}
}

func oneGroup(adm *kadm.Client, topic, kind string, options ...kgo.Opt) {
	group := run + "-" + kind
	options = append(options, kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit(), kgo.HeartbeatInterval(200*time.Millisecond))
	first := client(options...)
	got := drain(first, 60)
	say(kind+": first member", len(got), inOrder(got), name(first.CommitRecords(ctx, got...)))
	if kind == "static" {
		options = append(options, kgo.InstanceID("there"))
	}
	second := client(options...)
	stop, cancel := context.WithCancel(ctx)
	for _, member := range []*kgo.Client{first, second} {
		go func() {
			for stop.Err() == nil {
				member.PollFetches(stop)
			}
		}()
	}
	shared := waitForShares(adm, group, kind)
	say(kind+": shared", shared)
	cancel()
	lags, err := adm.Lag(ctx, group)
	say(kind+": lag", name(err), name(lags.Error()), lags[group].Lag.Total())
	removed, err := adm.DeleteGroup(ctx, group)
	say(kind+": delete while in use", name(err), name(removed.Err))
	first.Close()
	second.Close()
	if kind == "static" { // who has a name does not leave by closing
		left, err := adm.LeaveGroup(ctx, kadm.LeaveGroup(group).InstanceIDs("here", "there"))
		say(kind+": leave", name(err), name(left.Error()))
	}
	offsets := make(kadm.Offsets)
	offsets.AddOffset(topic, 0, 1, -1)
	waitUntilEmpty(adm, group)
	say(kind+": reset", name(adm.CommitAllOffsets(ctx, group, offsets)))
	fetched, err := adm.FetchOffsets(ctx, group)
	at, _ := fetched.Lookup(topic, 0)
	say(kind+": offsets", name(err), len(fetched[topic]), at.At)
	gone, err := adm.DeleteOffsets(ctx, group, offsets.TopicsSet())
	say(kind+": delete offsets", name(err), name(gone.Error()))
	removed, err = adm.DeleteGroup(ctx, group)
	say(kind+": delete", name(err), name(removed.Err))
	removed, err = adm.DeleteGroup(ctx, group)
	say(kind+": delete again", name(err), name(removed.Err))
}

// waitForShares waits until both members have three partitions each.
func waitForShares(adm *kadm.Client, group, kind string) string {
	seen := ""
	for try := 0; try < 150; try++ {
		seen = ""
		if kind == "consumer-protocol" {
			described, _ := adm.DescribeConsumerGroups(ctx, group)
			for _, m := range described[group].Members {
				n := 0
				for _, t := range m.Assignment {
					n += len(t)
				}
				seen += fmt.Sprint(n, " ")
			}
			seen += described[group].State + " " + described[group].AssignorName
		} else {
			described, _ := adm.DescribeGroups(ctx, group)
			for _, m := range described[group].Members {
				if assigned, ok := m.Assigned.AsConsumer(); ok {
					for _, t := range assigned.Topics {
						seen += fmt.Sprint(len(t.Partitions), " ")
					}
				}
			}
			seen += described[group].State + " " + described[group].Protocol
		}
		if len(seen) > 3 && seen[:4] == "3 3 " {
			return seen
		}
		time.Sleep(200 * time.Millisecond)
	}
	return "never: " + seen
}

func waitUntilEmpty(adm *kadm.Client, group string) {
	for try := 0; try < 100; try++ {
		described, _ := adm.DescribeGroups(ctx, group)
		newer, _ := adm.DescribeConsumerGroups(ctx, group)
		if described[group].State == "Empty" || newer[group].State == "Empty" {
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
}
