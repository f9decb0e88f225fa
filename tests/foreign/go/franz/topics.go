package main

import (
	"fmt"
	"sort"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func topics(adm *kadm.Client) {
	one := run + "-one"
	created, err := adm.CreateTopics(ctx, 3, -1, map[string]*string{"retention.ms": kadm.StringPtr("86400000")}, one)
	say("create", name(err), name(created[one].Err), created[one].NumPartitions, *created[one].Configs["retention.ms"].Value)
	again, err := adm.CreateTopics(ctx, 3, -1, nil, one, "bad name", "..")
	for _, t := range again.Sorted() {
		say("create again", t.Topic, name(err), name(t.Err), t.ErrMessage)
	}
	bad, err := adm.CreateTopics(ctx, 1, -1, map[string]*string{"no.such": kadm.StringPtr("1")}, run+"-bad")
	for _, t := range bad {
		say("create bad config", name(err), name(t.Err), t.ErrMessage)
	}
	many, err := adm.CreateTopics(ctx, 1, 99, nil, run+"-bad")
	for _, t := range many {
		say("create 99 replicas", name(err), name(t.Err))
	}
	listed, err := adm.ListTopics(ctx, one, run+"-missing")
	for _, t := range listed.Sorted() {
		say("list", t.Topic, name(err), name(t.Err), len(t.Partitions), t.IsInternal)
	}
	grown, err := adm.CreatePartitions(ctx, 2, one, run+"-missing")
	for _, t := range grown.Sorted() {
		say("grow", t.Topic, name(err), name(t.Err), t.ErrMessage)
	}
	shrunk, err := adm.UpdatePartitions(ctx, 2, one)
	for _, t := range shrunk {
		say("shrink", name(err), name(t.Err), t.ErrMessage)
	}
	altered, err := adm.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "cleanup.policy", Value: kadm.StringPtr("compact")}, {Op: kadm.DeleteConfig, Name: "retention.ms"}}, one)
	say("alter", name(err), name(altered[0].Err))
	altered, err = adm.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "retention.ms", Value: kadm.StringPtr("soon")}}, one)
	say("alter bad", name(err), name(altered[0].Err), altered[0].ErrMessage)
	say("own configs", ownConfigs(adm, one, "cleanup.policy=compact"))
	state, err := adm.AlterTopicConfigsState(ctx, []kadm.AlterConfig{{Name: "max.message.bytes", Value: kadm.StringPtr("2000")}}, one)
	say("alter state", name(err), name(state[0].Err))
	say("own configs", ownConfigs(adm, one, "max.message.bytes=2000"))
	deleted, err := adm.DeleteTopics(ctx, one, run+"-missing")
	for _, t := range deleted.Sorted() {
		say("delete", t.Topic, name(err), name(t.Err))
	}
}

// ownConfigs waits until the topic has the configs wanted, which a broker may learn a moment later.
func ownConfigs(adm *kadm.Client, topic, wanted string) (seen string) {
	for try := 0; try < 100 && seen != wanted; try++ {
		time.Sleep(100 * time.Millisecond)
		configs, err := adm.DescribeTopicConfigs(ctx, topic)
		if err != nil || len(configs) == 0 {
			continue
		}
		var own []string
		for _, c := range configs[0].Configs {
			if c.Source.String() == "DYNAMIC_TOPIC_CONFIG" {
				own = append(own, c.Key+"="+c.MaybeValue())
			}
		}
		seen = sorted(own)
	}
	return seen
}

func makeTopic(adm *kadm.Client, suffix string, partitions int32) string {
	topic := run + "-" + suffix
	created, err := adm.CreateTopics(ctx, partitions, -1, nil, topic)
	if err != nil || created[topic].Err != nil {
		panic(fmt.Sprint(err, created[topic].Err))
	}
	for try := 0; try < 100; try++ {
		listed, err := adm.ListEndOffsets(ctx, topic)
		if err == nil && listed.Error() == nil && len(listed[topic]) == int(partitions) {
			return topic
		}
		time.Sleep(100 * time.Millisecond)
	}
	panic("no leaders for " + topic)
}

// drain reads until count records have come, or nothing more comes for a while.
func drain(cl *kgo.Client, count int) []*kgo.Record {
	var all []*kgo.Record
	quiet := time.Now().Add(20 * time.Second)
	for len(all) < count && time.Now().Before(quiet) {
		few, cancel := contextFor(2 * time.Second)
		all = append(all, cl.PollFetches(few).Records()...)
		cancel()
	}
	return all
}

func order(offsets kadm.ListedOffsets, topic string) (ends []int64) {
	var partitions []int
	for p := range offsets[topic] {
		partitions = append(partitions, int(p))
	}
	sort.Ints(partitions)
	for _, p := range partitions {
		ends = append(ends, offsets[topic][int32(p)].Offset)
	}
	return ends
}
