// What a Go program does with a broker through franz-go, one printed line for each step:
//
//	franz host:port,host:port [part ...]
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

var (
	servers = strings.Split(os.Args[1], ",")
	run     = fmt.Sprintf("go-%d", time.Now().UnixNano())
	ctx, _  = context.WithTimeout(context.Background(), 4*time.Minute)
)

// say prints one line; what differs from run to run is left out.
func say(step string, what ...any) {
	text := strings.TrimSuffix(fmt.Sprintln(what...), "\n")
	fmt.Printf("%s: %s\n", step, strings.ReplaceAll(text, run, "RUN"))
}

func name(err error) string {
	if err == nil {
		return "ok"
	}
	var k *kerr.Error
	if errors.As(err, &k) {
		return k.Message
	}
	return err.Error()
}

func client(options ...kgo.Opt) *kgo.Client {
	options = append([]kgo.Opt{kgo.SeedBrokers(servers...), kgo.FetchMaxWait(200 * time.Millisecond), kgo.MetadataMinAge(100 * time.Millisecond)}, options...)
	cl, err := kgo.NewClient(options...)
	if err != nil {
		panic(err)
	}
	return cl
}

func sorted(values []string) string { sort.Strings(values); return strings.Join(values, " ") }

func main() {
	parts := map[string]func(*kadm.Client){"topics": topics, "records": records, "groups": groups, "transactions": transactions, "cluster": cluster, "security": security, "faults": faults}
	wanted := []string{"topics", "records", "groups", "transactions", "cluster", "security"}
	if len(os.Args) > 2 {
		wanted = os.Args[2:]
	}
	cl := client()
	defer cl.Close()
	for _, part := range wanted {
		parts[part](kadm.NewClient(cl))
	}
}
