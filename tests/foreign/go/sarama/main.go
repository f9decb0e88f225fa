// What a Go program does with a broker through IBM/sarama, one printed line for each step.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/IBM/sarama"
)

var (
	servers = strings.Split(os.Args[1], ",")
	run     = fmt.Sprintf("sarama-%d", time.Now().UnixNano())
)

func say(step string, what ...any) {
	text := strings.TrimSuffix(fmt.Sprintln(what...), "\n")
	fmt.Printf("%s: %s\n", step, strings.ReplaceAll(text, run, "RUN"))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func config(version sarama.KafkaVersion) *sarama.Config {
	c := sarama.NewConfig()
	c.Version = version
	c.Producer.Return.Successes = true
	c.Consumer.Offsets.Initial = sarama.OffsetOldest
	c.Consumer.Offsets.AutoCommit.Interval = 100 * time.Millisecond
	c.Consumer.Group.Rebalance.Timeout = 10 * time.Second
	c.Metadata.Retry.Backoff = 100 * time.Millisecond
	return c
}

func main() {
	for _, version := range []sarama.KafkaVersion{sarama.V2_1_0_0, sarama.V2_8_0_0, sarama.MaxVersion} {
		v := version.String()
		admin := must(sarama.NewClusterAdmin(servers, config(version)))
		topic := run + "-" + v
		say(v+" create", admin.CreateTopic(topic, &sarama.TopicDetail{NumPartitions: 4, ReplicationFactor: 1}, false))
		say(v+" create again", admin.CreateTopic(topic, &sarama.TopicDetail{NumPartitions: 4, ReplicationFactor: 1}, false))
		time.Sleep(500 * time.Millisecond)
		produce(v, version, topic)
		group(v, version, topic)
		adminCalls(v, admin, topic)
		if version.IsAtLeast(sarama.V2_8_0_0) {
			transactions(v, version, topic)
		}
		say(v+" delete", admin.DeleteTopic(topic))
		say(v+" delete again", admin.DeleteTopic(topic+"-none"))
		admin.Close()
	}
}

func produce(v string, version sarama.KafkaVersion, topic string) {
	for _, codec := range []sarama.CompressionCodec{sarama.CompressionNone, sarama.CompressionGZIP, sarama.CompressionSnappy, sarama.CompressionLZ4, sarama.CompressionZSTD} {
		for _, acks := range []sarama.RequiredAcks{sarama.WaitForAll, sarama.WaitForLocal, sarama.NoResponse} {
			c := config(version)
			c.Producer.Compression, c.Producer.RequiredAcks = codec, acks
			c.Producer.Idempotent = acks == sarama.WaitForAll
			if c.Producer.Idempotent {
				c.Net.MaxOpenRequests = 1
			}
			p := must(sarama.NewSyncProducer(servers, c))
			for i := 0; i < 4; i++ {
				m := &sarama.ProducerMessage{Topic: topic, Value: sarama.StringEncoder("v"), Headers: []sarama.RecordHeader{{Key: []byte("h"), Value: []byte("x")}}}
				if i%2 == 0 {
					m.Key = sarama.StringEncoder(fmt.Sprint(i))
				}
				if i == 3 {
					m.Value = nil
				}
				if _, _, err := p.SendMessage(m); err != nil {
					say(v+" send", codec, acks, err)
				}
			}
			p.Close()
		}
	}
	c := config(version)
	c.Producer.MaxMessageBytes = 10 << 20
	p := must(sarama.NewSyncProducer(servers, c))
	_, _, err := p.SendMessage(&sarama.ProducerMessage{Topic: topic, Value: sarama.ByteEncoder(make([]byte, 3<<20))})
	say(v+" too large", err)
	p.Close()
	a := must(sarama.NewAsyncProducer(servers, config(version)))
	go func() {
		for i := 0; i < 100; i++ {
			a.Input() <- &sarama.ProducerMessage{Topic: topic, Value: sarama.StringEncoder("async")}
		}
	}()
	good, bad := 0, 0
	for good+bad < 100 {
		select {
		case <-a.Successes():
			good++
		case e := <-a.Errors():
			bad++
			say(v+" async", e)
		}
	}
	a.Close()
	say(v+" async", good, bad)
	cl := must(sarama.NewClient(servers, config(version)))
	total := int64(0)
	for p := int32(0); p < 4; p++ {
		total += must(cl.GetOffset(topic, p, sarama.OffsetNewest)) - must(cl.GetOffset(topic, p, sarama.OffsetOldest))
		must(cl.GetOffset(topic, p, time.Now().Add(-time.Hour).UnixMilli()))
	}
	say(v+" total", total)
	cl.Close()
	consumer := must(sarama.NewConsumer(servers, config(version)))
	pc := must(consumer.ConsumePartition(topic, 0, 1))
	select {
	case m := <-pc.Messages():
		say(v+" from 1", m.Offset)
	case <-time.After(10 * time.Second):
		say(v+" from 1", "nothing")
	}
	pc.Close()
	_, err = consumer.ConsumePartition(topic, 0, 1000000)
	say(v+" out of range", err)
	consumer.Close()
}

type handler struct {
	count *atomic.Int64
}

func (handler) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (handler) Cleanup(sarama.ConsumerGroupSession) error { return nil }
func (h handler) ConsumeClaim(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
	for {
		select {
		case m, ok := <-c.Messages():
			if !ok {
				return nil
			}
			s.MarkMessage(m, "meta")
			h.count.Add(1)
		case <-s.Context().Done():
			return nil
		}
	}
}

func group(v string, version sarama.KafkaVersion, topic string) {
	strategies := []sarama.BalanceStrategy{sarama.NewBalanceStrategyRange(), sarama.NewBalanceStrategyRoundRobin(), sarama.NewBalanceStrategySticky()}
	for _, strategy := range strategies {
		name := run + "-" + v + "-" + strategy.Name()
		var count atomic.Int64
		ctx, cancel := context.WithCancel(context.Background())
		var members []sarama.ConsumerGroup
		var wg sync.WaitGroup
		for i := 0; i < 2; i++ {
			c := config(version)
			c.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{strategy}
			c.Consumer.Group.Heartbeat.Interval = 200 * time.Millisecond
			if i == 1 && version.IsAtLeast(sarama.V2_3_0_0) {
				c.Consumer.Group.InstanceId = "static"
			}
			g := must(sarama.NewConsumerGroup(servers, name, c))
			members = append(members, g)
			wg.Add(1)
			go func() {
				defer wg.Done()
				for ctx.Err() == nil {
					if err := g.Consume(ctx, []string{topic}, handler{&count}); err != nil && !errors.Is(err, sarama.ErrClosedConsumerGroup) {
						say(v+" consume", err)
						time.Sleep(time.Second)
					}
				}
			}()
		}
		for i := 0; i < 200 && count.Load() < 160; i++ {
			time.Sleep(100 * time.Millisecond)
		}
		say(v+" "+strategy.Name(), count.Load() >= 160)
		admin := must(sarama.NewClusterAdmin(servers, config(version)))
		described := must(admin.DescribeConsumerGroups([]string{name}))
		for try := 0; try < 100 && (described[0].State != "Stable" || len(described[0].Members) != 2); try++ {
			time.Sleep(200 * time.Millisecond)
			described = must(admin.DescribeConsumerGroups([]string{name}))
		}
		say(v+" describe", described[0].State, described[0].Protocol, len(described[0].Members))
		say(v+" delete in use", admin.DeleteConsumerGroup(name))
		cancel()
		for _, m := range members {
			m.Close()
		}
		wg.Wait()
		if version.IsAtLeast(sarama.V2_4_0_0) {
			left, err := admin.RemoveMemberFromConsumerGroup(name, []string{"static"})
			if err == nil {
				say(v+" remove", left.Err, left.Members[0].Err)
			} else {
				say(v+" remove", err)
			}
		}
		offsets := must(admin.ListConsumerGroupOffsets(name, map[string][]int32{topic: {0, 1, 2, 3}}))
		sum := int64(0)
		for p := int32(0); p < 4; p++ {
			sum += offsets.GetBlock(topic, p).Offset
		}
		say(v+" committed", sum)
		if version.IsAtLeast(sarama.V2_4_0_0) {
			say(v+" delete offset", admin.DeleteConsumerGroupOffset(name, topic, 0))
			say(v+" delete group", admin.DeleteConsumerGroup(name))
		}
		admin.Close()
	}
}

func adminCalls(v string, admin sarama.ClusterAdmin, topic string) {
	topics := must(admin.ListTopics())
	say(v+" list", topics[topic].NumPartitions)
	described := must(admin.DescribeTopics([]string{topic, topic + "-none"}))
	for _, d := range described {
		say(v+" describe topic", d.Name, d.Err, len(d.Partitions))
	}
	say(v+" grow", admin.CreatePartitions(topic, 5, nil, false))
	say(v+" shrink", admin.CreatePartitions(topic, 2, nil, false))
	value := "123456"
	say(v+" alter", admin.AlterConfig(sarama.TopicResource, topic, map[string]*string{"retention.ms": &value}, false))
	say(v+" incremental", admin.IncrementalAlterConfig(sarama.TopicResource, topic, map[string]sarama.IncrementalAlterConfigsEntry{"flush.ms": {Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &value}}, false))
	time.Sleep(300 * time.Millisecond)
	entries, err := admin.DescribeConfig(sarama.ConfigResource{Type: sarama.TopicResource, Name: topic})
	var own []string
	for _, e := range entries {
		if e.Source == sarama.SourceTopic {
			own = append(own, e.Name+"="+e.Value)
		}
	}
	sort.Strings(own)
	say(v+" config", err, own)
	brokers, _, err := admin.DescribeCluster()
	say(v+" cluster", len(brokers) > 0, err)
	dirs, err := admin.DescribeLogDirs([]int32{brokers[0].ID()})
	say(v+" dirs", len(dirs), err)
	say(v+" delete records", admin.DeleteRecords(topic, map[int32]int64{0: 2}))
	_, err = admin.ListAcls(sarama.AclFilter{ResourceType: sarama.AclResourceAny, ResourcePatternTypeFilter: sarama.AclPatternAny, Operation: sarama.AclOperationAny, PermissionType: sarama.AclPermissionAny})
	say(v+" acls", err)
	say(v+" create acl", admin.CreateACL(sarama.Resource{ResourceType: sarama.AclResourceTopic, ResourceName: "t", ResourcePatternType: sarama.AclPatternLiteral}, sarama.Acl{Principal: "User:a", Host: "*", Operation: sarama.AclOperationRead, PermissionType: sarama.AclPermissionAllow}))
	quotas, err := admin.DescribeClientQuotas(nil, false)
	say(v+" quotas", len(quotas), err)
	users, err := admin.DescribeUserScramCredentials([]string{"nobody"})
	if err == nil {
		say(v+" scram", users[0].ErrorCode)
	} else {
		say(v+" scram", err)
	}
	status, err := admin.ListPartitionReassignments(topic, []int32{0})
	say(v+" moves", len(status), err)
	say(v+" reassign", admin.AlterPartitionReassignments(topic, [][]int32{{999}}))
	results, err := admin.ElectLeaders(sarama.PreferredElection, map[string][]int32{topic: {0}})
	for _, t := range results {
		for _, p := range t {
			say(v+" elect", p.ErrorCode)
		}
	}
	say(v+" elected", err)
	must(admin.ListConsumerGroups())
}

func transactions(v string, version sarama.KafkaVersion, topic string) {
	c := config(version)
	c.Producer.Idempotent = true
	c.Net.MaxOpenRequests = 1
	c.Producer.Transaction.ID = run + "-" + v
	c.Producer.RequiredAcks = sarama.WaitForAll
	p := must(sarama.NewSyncProducer(servers, c))
	for round := 0; round < 3; round++ {
		if err := p.BeginTxn(); err != nil {
			say(v+" begin", err)
		}
		for i := 0; i < 5; i++ {
			if _, _, err := p.SendMessage(&sarama.ProducerMessage{Topic: topic, Partition: 0, Value: sarama.StringEncoder(fmt.Sprint("txn", round))}); err != nil {
				say(v+" txn send", err)
			}
		}
		if round == 1 {
			say(v+" abort", p.AbortTxn())
		} else {
			if round == 2 {
				say(v+" offsets", p.AddOffsetsToTxn(map[string][]*sarama.PartitionOffsetMetadata{topic: {{Partition: 0, Offset: 7}}}, run+"-"+v+"-txngroup"))
			}
			say(v+" commit", p.CommitTxn())
		}
	}
	if err := p.BeginTxn(); err != nil {
		say(v+" begin", err)
	}
	_, _, err := p.SendMessage(&sarama.ProducerMessage{Topic: topic, Value: sarama.StringEncoder("zombie")})
	say(v+" last send", err)
	other := must(sarama.NewSyncProducer(servers, c))
	err = p.CommitTxn()
	say(v+" fenced", err != nil, p.TxnStatus()&sarama.ProducerTxnFlagFatalError != 0)
	p.Close()
	other.Close()
	rc := config(version)
	rc.Consumer.IsolationLevel = sarama.ReadCommitted
	consumer := must(sarama.NewConsumer(servers, rc))
	counts := map[string]int{}
	for part := int32(0); part < 5; part++ {
		pc := must(consumer.ConsumePartition(topic, part, sarama.OffsetOldest))
		quiet := time.NewTimer(1500 * time.Millisecond)
	loop:
		for {
			select {
			case m := <-pc.Messages():
				if strings.HasPrefix(string(m.Value), "txn") || string(m.Value) == "zombie" {
					counts[string(m.Value)]++
				}
				quiet.Reset(1500 * time.Millisecond)
			case <-quiet.C:
				break loop
			}
		}
		pc.Close()
	}
	consumer.Close()
	say(v+" committed only", counts)
}
