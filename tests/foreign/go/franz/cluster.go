package main

import (
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
)

func cluster(adm *kadm.Client) {
	meta, err := adm.BrokerMetadata(ctx)
	say("brokers", name(err), len(meta.Brokers) > 0, meta.Controller >= 0, meta.Cluster != "")
	topic := makeTopic(adm, "cluster", 1)
	set := make(kadm.TopicsSet)
	set.Add(topic, 0)
	dirs, err := adm.DescribeAllLogDirs(ctx, set)
	say("log dirs", name(err), len(dirs) == len(meta.Brokers))
	elected, err := adm.ElectLeaders(ctx, kadm.ElectPreferredReplica, set)
	say("elect", name(err), name(elected[topic][0].Err), elected[topic][0].ErrMessage)
	var move kadm.AlterPartitionAssignmentsReq
	move.Assign(topic, 0, []int32{4242})
	moved, err := adm.AlterPartitionAssignments(ctx, move)
	say("move to nowhere", name(err), name(moved[topic][0].Err), moved[topic][0].ErrMessage)
	var cancel kadm.AlterPartitionAssignmentsReq
	cancel.CancelAssign(topic, 0)
	moved, err = adm.AlterPartitionAssignments(ctx, cancel)
	say("cancel no move", name(err), name(moved[topic][0].Err), moved[topic][0].ErrMessage)
	moves, err := adm.ListPartitionReassignments(ctx, set)
	say("moves", name(err), len(moves))
	versions, err := adm.ApiVersions(ctx)
	for _, v := range versions {
		say("api versions", name(err), name(v.Err))
		break
	}
	configs, err := adm.DescribeBrokerConfigs(ctx, meta.Brokers[0].NodeID)
	say("broker configs", name(err), name(configs[0].Err), len(configs[0].Configs) > 200)
	altered, err := adm.AlterBrokerConfigs(ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "log.cleaner.threads", Value: kadm.StringPtr("2")}})
	say("cluster config", name(err), name(altered[0].Err))
	altered, err = adm.AlterBrokerConfigs(ctx, []kadm.AlterConfig{{Op: kadm.DeleteConfig, Name: "log.cleaner.threads"}})
	say("cluster config away", name(err), name(altered[0].Err))
	altered, err = adm.AlterBrokerConfigs(ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "log.dirs", Value: kadm.StringPtr("/x")}}, meta.Brokers[0].NodeID)
	say("read-only config", name(err), name(altered[0].Err), altered[0].ErrMessage)
	time.Sleep(100 * time.Millisecond)
	found := adm.FindGroupCoordinators(ctx, "a", "b", "c")
	say("coordinators", len(found), name(found.Error()))
	if _, err := adm.DeleteTopics(ctx, topic); err != nil {
		say("delete", err)
	}
}

func security(adm *kadm.Client) {
	acls := kadm.NewACLs().Allow("User:a").AllowHosts("*").Topics("t").Operations(kadm.OpRead).ResourcePatternType(kadm.ACLPatternLiteral)
	made, err := adm.CreateACLs(ctx, acls)
	for _, r := range made {
		say("create acl", name(r.Err), r.ErrMessage)
	}
	say("create acls", name(err))
	every := kadm.NewACLs().AnyResource().Allow().AllowHosts().Deny().DenyHosts().Operations().ResourcePatternType(kadm.ACLPatternAny)
	seen, err := adm.DescribeACLs(ctx, every)
	for _, r := range seen {
		say("describe acl", name(r.Err), r.ErrMessage)
	}
	say("describe acls", name(err))
	gone, err := adm.DeleteACLs(ctx, acls)
	for _, r := range gone {
		say("delete acl", name(r.Err), r.ErrMessage)
	}
	say("delete acls", name(err))
	_, err = adm.CreateDelegationToken(ctx, kadm.CreateDelegationToken{})
	say("create token", name(err))
	_, err = adm.DescribeDelegationTokens(ctx)
	say("describe tokens", name(err))
	_, err = adm.RenewDelegationToken(ctx, []byte("x"), time.Hour)
	say("renew token", name(err))
	_, err = adm.ExpireDelegationToken(ctx, []byte("x"), time.Hour)
	say("expire token", name(err))
	quotas, err := adm.DescribeClientQuotas(ctx, false, nil)
	say("quotas", name(err), len(quotas))
	users, err := adm.DescribeUserSCRAMs(ctx)
	say("scram", name(err), len(users))
	users, err = adm.DescribeUserSCRAMs(ctx, "nobody")
	say("scram of nobody", name(err), name(users["nobody"].Err), users["nobody"].ErrMessage)
}
