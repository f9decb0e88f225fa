package main

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func contextFor(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}

func records(adm *kadm.Client) {
	topic := makeTopic(adm, "records", 2)
	codecs := map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}
	start := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	count := 0
	for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		for label, acks := range map[string]kgo.Acks{"all": kgo.AllISRAcks(), "leader": kgo.LeaderAck(), "none": kgo.NoAck()} {
			options := []kgo.Opt{kgo.RequiredAcks(acks), kgo.ProducerBatchCompression(codecs[codec]), kgo.RecordPartitioner(kgo.ManualPartitioner())}
			if label != "all" {
				options = append(options, kgo.DisableIdempotentWrite())
			}
			cl := client(options...)
			for i := 0; i < 4; i++ {
				record := &kgo.Record{Topic: topic, Partition: 0, Key: []byte(codec), Value: bytes.Repeat([]byte(label), 200), Timestamp: start.Add(time.Duration(count) * time.Second), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("1")}, {Key: "h", Value: nil}, {Key: "", Value: []byte{}}}}
				if i == 1 {
					record.Key = nil
				}
				if i == 2 {
					record.Value = nil
				}
				if err := cl.ProduceSync(ctx, record).FirstErr(); err != nil {
					say("produce", codec, label, name(err))
				}
				count++
			}
			cl.Close()
		}
	}
	cl := client(kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	got := drain(cl, count)
	cl.Close()
	nulls, headers := 0, 0
	for _, r := range got {
		headers += len(r.Headers)
		if r.Key == nil || r.Value == nil {
			nulls++
		}
	}
	say("read back", len(got), "of", count, "nulls", nulls, "headers", headers, "in order", inOrder(got))
	consume := func(step string, offset kgo.Offset) {
		cl := client(kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: offset}}))
		defer cl.Close()
		got := drain(cl, 1)
		if len(got) > 0 {
			say(step, got[0].Offset)
		}
	}
	consume("from offset 17", kgo.NewOffset().At(17))
	consume("two before the end", kgo.NewOffset().AtEnd().Relative(-2))
	consume("from a time", kgo.NewOffset().AfterMilli(start.Add(30*time.Second).UnixMilli()))
	consume("out of range, then the start", kgo.NewOffset().At(100000).AtStart())
	for step, list := range map[string]func(context.Context, ...string) (kadm.ListedOffsets, error){"start": adm.ListStartOffsets, "end": adm.ListEndOffsets, "committed": adm.ListCommittedOffsets, "max timestamp": adm.ListMaxTimestampOffsets, "local start": adm.ListLocalLogStartOffsets, "latest remote": adm.ListLatestRemoteOffsets} {
		listed, err := list(ctx, topic)
		say("offsets, "+step, name(err), name(listed.Error()), order(listed, topic))
	}
	after, err := adm.ListOffsetsAfterMilli(ctx, start.Add(10*time.Second).UnixMilli(), topic)
	say("offsets, time", name(err), order(after, topic))

	big := client(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchMaxBytes(5<<20), kgo.BrokerMaxWriteBytes(100<<20), kgo.ProducerBatchCompression(kgo.NoCompression()))
	say("too large", name(big.ProduceSync(ctx, &kgo.Record{Topic: topic, Partition: 1, Value: make([]byte, 2<<20)}).FirstErr()))
	say("just fits", name(big.ProduceSync(ctx, &kgo.Record{Topic: topic, Partition: 1, Value: make([]byte, 1000000)}).FirstErr()))
	big.Close()
	missing := client(kgo.UnknownTopicRetries(1))
	say("no such topic", name(missing.ProduceSync(ctx, &kgo.Record{Topic: run + "-absent", Value: []byte("x")}).FirstErr()))
	missing.Close()

	offsets := make(kadm.Offsets)
	offsets.AddOffset(topic, 0, 10, -1)
	removed, err := adm.DeleteRecords(ctx, offsets)
	r, _ := removed.Lookup(topic, 0)
	say("delete records", name(err), name(r.Err), r.LowWatermark)
	offsets.AddOffset(topic, 0, 100000, -1)
	removed, err = adm.DeleteRecords(ctx, offsets)
	r, _ = removed.Lookup(topic, 0)
	say("delete too many", name(err), name(r.Err), r.LowWatermark)
	consume("at the new start", kgo.NewOffset().AtStart())
	var request kadm.OffsetForLeaderEpochRequest
	request.Add(topic, 0, 0)
	epochs, err := adm.OffsetForLeaderEpoch(ctx, request)
	say("epoch", name(err), epochs[topic][0].LeaderEpoch, epochs[topic][0].EndOffset)
	if _, err := adm.DeleteTopics(ctx, topic); err != nil {
		say("delete", err)
	}
}

func inOrder(records []*kgo.Record) string {
	next := map[string]int64{}
	for _, r := range records {
		key := fmt.Sprint(r.Topic, r.Partition)
		if r.Offset < next[key] {
			return "no"
		}
		next[key] = r.Offset + 1
	}
	return "yes"
}
