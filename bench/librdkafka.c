// A producer and a consumer on librdkafka itself, without the cost of a language around it.
//
//   librdkafka produce <bootstrap> <topic> <records> <record bytes>
//   librdkafka consume <bootstrap> <topic> <records> <record bytes>
//
// Prints one line of JSON: when the first record was sent or asked for, and when the last one was acknowledged or read, in seconds of the
// machine's monotonic clock, so that two processes can be compared. Linked with the library that confluent-kafka brings along; what is
// used of its interface is declared here, because the wheel has no header.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PRODUCER = 0, CONSUMER = 1, COPY_PAYLOAD = 2, QUEUE_FULL = -184, END_OF_PARTITION = -191, PATIENCE_MS = 600000 };

typedef struct rd_kafka_s Client;
typedef struct rd_kafka_topic_s Topic;
typedef struct rd_kafka_conf_s Configuration;
typedef struct {
    int error;
    Topic *topic;
    int32_t partition;
    void *payload;
    size_t size;
    void *key;
    size_t key_size;
    int64_t offset;
    void *internal;
} Message;

Configuration *rd_kafka_conf_new(void);
int rd_kafka_conf_set(Configuration *, const char *name, const char *value, char *error, size_t error_size);
void rd_kafka_conf_set_dr_msg_cb(Configuration *, void (*delivered)(Client *, const Message *, void *));
Client *rd_kafka_new(int kind, Configuration *, char *error, size_t error_size);
Topic *rd_kafka_topic_new(Client *, const char *name, void *configuration);
int rd_kafka_produce(Topic *, int32_t partition, int flags, void *payload, size_t, const void *key, size_t, void *opaque);
int rd_kafka_poll(Client *, int timeout_ms);
int rd_kafka_flush(Client *, int timeout_ms);
int rd_kafka_last_error(void);
int rd_kafka_consume_start(Topic *, int32_t partition, int64_t offset);
int rd_kafka_consume_callback(Topic *, int32_t partition, int timeout_ms, void (*)(Message *, void *), void *opaque);
int rd_kafka_consume_stop(Topic *, int32_t partition);
const char *rd_kafka_err2str(int error);

static long delivered_count, seen_count, records;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static Client *client(int kind, const char *const settings[][2], size_t count, const char *bootstrap) {
    char error[512];
    Configuration *configuration = rd_kafka_conf_new();
    if (rd_kafka_conf_set(configuration, "bootstrap.servers", bootstrap, error, sizeof error)) fail("setting", error);
    for (size_t i = 0; i < count; i++)
        if (rd_kafka_conf_set(configuration, settings[i][0], settings[i][1], error, sizeof error)) fail("setting", error);
    void delivered(Client *, const Message *, void *);
    if (kind == PRODUCER) rd_kafka_conf_set_dr_msg_cb(configuration, delivered);
    Client *made = rd_kafka_new(kind, configuration, error, sizeof error);
    if (!made) fail("client", error);
    return made;
}

void delivered(Client *producer, const Message *message, void *opaque) {
    (void)producer, (void)opaque;
    if (message->error) fail("not delivered", rd_kafka_err2str(message->error));
    delivered_count++;
}

// --- the two loads ---------------------------------------------------------------------------------------------------

static void produce(const char *bootstrap, const char *topic_name, size_t record_bytes) {
    static const char *const settings[][2] = {
        {"acks", "all"}, {"linger.ms", "5"}, {"batch.size", "131072"},
        {"queue.buffering.max.messages", "500000"}, {"queue.buffering.max.kbytes", "1048576"},
    };
    Client *producer = client(PRODUCER, settings, sizeof settings / sizeof *settings, bootstrap);
    Topic *topic = rd_kafka_topic_new(producer, topic_name, NULL);
    char *value = malloc(record_bytes);
    for (size_t i = 0; i < record_bytes; i++) value[i] = 'a' + i % 26;
    double started_at = now();
    for (long number = 0; number < records; number++) {
        while (rd_kafka_produce(topic, 0, COPY_PAYLOAD, value, record_bytes, NULL, 0, NULL)) {
            if (rd_kafka_last_error() != QUEUE_FULL) fail("produce", rd_kafka_err2str(rd_kafka_last_error()));
            rd_kafka_poll(producer, 10);
        }
        if (number % 1000 == 0) rd_kafka_poll(producer, 0);
    }
    rd_kafka_flush(producer, PATIENCE_MS);
    if (delivered_count != records) fail("produce", "not everything was delivered");
    printf("{\"started_at\": %.9f, \"ended_at\": %.9f}\n", started_at, now());
}

static void seen(Message *message, void *opaque) {
    (void)opaque;
    if (!message->error) seen_count++;
    else if (message->error != END_OF_PARTITION) fail("consume", rd_kafka_err2str(message->error));
}

static void consume(const char *bootstrap, const char *topic_name) {
    static const char *const settings[][2] = {{"queued.min.messages", "1000000"}, {"queued.max.messages.kbytes", "2097151"}};
    Client *consumer = client(CONSUMER, settings, sizeof settings / sizeof *settings, bootstrap);
    Topic *topic = rd_kafka_topic_new(consumer, topic_name, NULL);
    double started_at = now();
    if (rd_kafka_consume_start(topic, 0, 0)) fail("consume", rd_kafka_err2str(rd_kafka_last_error()));
    while (seen_count < records)
        if (rd_kafka_consume_callback(topic, 0, 1000, seen, NULL) < 0) fail("consume", rd_kafka_err2str(rd_kafka_last_error()));
    printf("{\"started_at\": %.9f, \"ended_at\": %.9f}\n", started_at, now());
    rd_kafka_consume_stop(topic, 0);
}

int main(int count, char **words) {
    if (count != 6) fail("usage", "librdkafka produce|consume <bootstrap> <topic> <records> <record bytes>");
    records = atol(words[4]);
    if (!strcmp(words[1], "produce")) produce(words[2], words[3], (size_t)atol(words[5]));
    else consume(words[2], words[3]);
    return 0;
}
