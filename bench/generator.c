// A load generator that speaks just enough of Kafka's protocol to keep a broker busy and itself idle: requests are
// encoded once and sent again and again from one thread, so that what is measured is the broker.
//
//   generator produce <port> <topic> <partitions> <connections> <record bytes> <records per batch> <in flight>
//             <acks> <seconds> <bytes, 0 = no limit> <requests per second, 0 = as fast as it goes> <keys, 0 = none>
//   generator fetch   <port> <topic> <partitions> <connections> <bytes per fetch> <seconds> <bytes>
//             <isolation level: 0 reads everything, 1 up to the last stable offset, aborted transactions listed>
//
// It stops at the first limit reached, or at SIGTERM, and prints one line of JSON. With a rate, the latency of a request counts from
// the moment it was due, not from the moment it could be sent: a broker that stalls is charged for those it held up.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { IN_FLIGHT_MAX = 64, CONNECTIONS_MAX = 1024, VARIANTS_MAX = 64 };

typedef struct {
    int socket, partition;
    uint8_t *frames[VARIANTS_MAX];     // whole requests, length first
    size_t frame_size, out_position;
    uint64_t sent, done;
    double due[IN_FLIGHT_MAX];         // when each request in flight was due
    double sent_at[IN_FLIGHT_MAX];     // when it began to be sent
    uint8_t *in;                       // the reply being read, length first
    size_t in_capacity, in_position;
    uint64_t fetch_offset;
    double next_due;
    int awaits_room;                   // whether epoll watches for room to send
} Connection;

static struct {
    const char *topic;
    int port, partitions, connections, record_bytes, records, in_flight, acks, fetch_bytes, keys, is_fetch, variants;
    int isolation_level;
    double seconds, rate;
    uint64_t bytes_max;
} load;

static volatile sig_atomic_t is_stopped; // from outside
static void stop(int signal) { is_stopped = signal; }

static uint64_t total_bytes, total_requests, total_records;

typedef struct {
    double *seconds;
    size_t count, capacity;
} Times;

// From when a request was due until its answer, and the two parts of that: until it was sent, and from there on.
static Times latencies, delays, answers;

// The 99th percentile of each whole half second: a stop of the machine spoils one of them, a slow broker all.
static const double WINDOW_SECONDS = .5;
static Times window, windows_p99;
static double window_end;

static void fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

// --- encoding ------------------------------------------------------------------------------------------------------

static uint8_t *put16(uint8_t *p, int v) { p[0] = v >> 8; p[1] = v; return p + 2; }
static uint8_t *put32(uint8_t *p, uint32_t v) { p = put16(p, v >> 16); return put16(p, v); }
static uint8_t *put64(uint8_t *p, uint64_t v) { p = put32(p, v >> 32); return put32(p, v); }
static uint32_t get32(const uint8_t *p) { return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3]; }
static uint64_t get64(const uint8_t *p) { return (uint64_t)get32(p) << 32 | get32(p + 4); }
static int get16(const uint8_t *p) { return (int16_t)(p[0] << 8 | p[1]); }

static uint8_t *put_varint(uint8_t *p, uint32_t v) {
    for (; v >= 128; v >>= 7) *p++ = v | 128;
    *p++ = v;
    return p;
}
static uint8_t *put_zigzag(uint8_t *p, int v) { return put_varint(p, ((uint32_t)v << 1) ^ (uint32_t)(v >> 31)); }
static uint8_t *put_bytes(uint8_t *p, const void *data, size_t size) { memcpy(p, data, size); return p + size; }

static uint32_t crc32c(const uint8_t *p, size_t size) {
    static uint32_t table[256];
    if (!table[1])
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t c = i;
            for (int bit = 0; bit < 8; bit++) c = c & 1 ? c >> 1 ^ 0x82f63b78 : c >> 1;
            table[i] = c;
        }
    uint32_t crc = ~0u;
    while (size--) crc = crc >> 8 ^ table[(crc ^ *p++) & 255];
    return ~crc;
}

static uint8_t *put_record(uint8_t *p, int delta, int key) {
    uint8_t head[64], *h = head;
    char text[16];
    int text_size = key < 0 ? -1 : sprintf(text, "%08d", key);
    *h++ = 0;
    h = put_zigzag(h, 0);
    h = put_zigzag(h, delta);
    h = put_zigzag(h, text_size);
    if (text_size > 0) h = put_bytes(h, text, text_size);
    h = put_zigzag(h, load.record_bytes);
    p = put_zigzag(p, (h - head) + load.record_bytes + 1);
    p = put_bytes(p, head, h - head);
    for (int i = 0; i < load.record_bytes; i++) *p++ = 'a' + (i * 7 + delta) % 26;
    *p++ = 0; // no headers
    return p;
}

static size_t encode_batch(uint8_t *start, int variant) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    uint64_t timestamp_ms = t.tv_sec * 1000ull + t.tv_nsec / 1000000;
    uint8_t *p = put64(start, 0), *length = p;
    p = put32(p + 4, -1);
    *p++ = 2;
    uint8_t *crc = p, *checked = p + 4;
    p = put16(checked, 0);
    p = put32(p, load.records - 1);
    p = put64(put64(p, timestamp_ms), timestamp_ms);
    p = put64(p, -1);
    p = put16(p, -1);
    p = put32(p, -1);
    p = put32(p, load.records);
    for (int i = 0; i < load.records; i++) {
        p = put_record(p, i, load.keys ? (variant * load.records + i) % load.keys : -1);
    }
    put32(length, p - length - 4);
    put32(crc, crc32c(checked, p - checked));
    return p - start;
}

static uint8_t *put_header(uint8_t *p, int api_key, int version) {
    p = put16(put16(p + 4, api_key), version); // the length comes last
    p = put32(p, 0);                           // correlation id, patched on sending
    p = put16(p, 3);
    return put_bytes(p, "raw", 3);
}

static size_t encode_produce(uint8_t *frame, int partition, const uint8_t *batch, size_t batch_size) {
    uint8_t *p = put_header(frame, 0, 9);
    *p++ = 0; // header tags
    *p++ = 0; // no transactional id
    p = put32(put16(p, load.acks), 30000);
    *p++ = 2;
    p = put_varint(p, strlen(load.topic) + 1);
    p = put_bytes(p, load.topic, strlen(load.topic));
    *p++ = 2;
    p = put_varint(put32(p, partition), batch_size + 1);
    p = put_bytes(p, batch, batch_size);
    *p++ = 0; *p++ = 0; *p++ = 0;
    put32(frame, p - frame - 4);
    return p - frame;
}

static size_t encode_fetch(uint8_t *frame, int partition, uint64_t offset) {
    uint8_t *p = put_header(frame, 1, 11);
    p = put32(p, -1);
    p = put32(put32(put32(p, 500), 1), load.fetch_bytes);
    *p++ = load.isolation_level;
    p = put32(put32(p, 0), -1); // no session
    p = put16(put32(p, 1), strlen(load.topic));
    p = put_bytes(p, load.topic, strlen(load.topic));
    p = put32(put32(put32(p, 1), partition), -1);
    p = put32(put64(put64(p, offset), -1), load.fetch_bytes);
    p = put16(put32(p, 0), 0);
    put32(frame, p - frame - 4);
    return p - frame;
}

// --- one connection ------------------------------------------------------------------------------------------------

static void open_connection(Connection *c, int number) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(load.port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int one = 1;
    c->socket = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(c->socket, (void *)&address, sizeof address)) fail("connect");
    setsockopt(c->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    fcntl(c->socket, F_SETFL, O_NONBLOCK);
    c->partition = number % load.partitions;
    c->in_capacity = load.is_fetch ? (size_t)load.fetch_bytes + (4 << 20) : 4096;
    c->in = malloc(c->in_capacity);
}

static void prepare_frames(Connection *c) {
    if (load.is_fetch) {
        c->frames[0] = malloc(1024 + strlen(load.topic));
        c->frame_size = encode_fetch(c->frames[0], c->partition, 0);
        return;
    }
    size_t room = (size_t)load.records * (load.record_bytes + 64) + 1024;
    uint8_t *batch = malloc(room);
    for (int variant = 0; variant < load.variants; variant++) {
        size_t batch_size = encode_batch(batch, variant);
        c->frames[variant] = malloc(room + 1024);
        c->frame_size = encode_produce(c->frames[variant], c->partition, batch, batch_size);
    }
    free(batch);
}

static void record(Times *times, double seconds) {
    if (times->count == times->capacity) {
        times->capacity = times->capacity ? 2 * times->capacity : 65536;
        times->seconds = realloc(times->seconds, times->capacity * sizeof *times->seconds);
        if (!times->seconds) fail("memory");
    }
    times->seconds[times->count++] = seconds;
}

// Sends what may be sent; returns 0 when the socket is full.
static int send_requests(Connection *c, int stopping) {
    for (;;) {
        if (c->out_position == 0) {
            if (stopping || c->sent - c->done >= (uint64_t)load.in_flight) return 1;
            double t = now();
            if (load.rate > 0) {
                if (c->next_due > t) return 1;
                c->due[c->sent % IN_FLIGHT_MAX] = c->next_due;
                c->next_due += load.connections / load.rate;
            } else {
                c->due[c->sent % IN_FLIGHT_MAX] = t;
            }
            c->sent_at[c->sent % IN_FLIGHT_MAX] = t;
            if (load.is_fetch) encode_fetch(c->frames[0], c->partition, c->fetch_offset);
            put32(c->frames[c->sent % load.variants] + 8, c->sent);
        }
        uint8_t *frame = c->frames[c->sent % load.variants];
        ssize_t n = send(c->socket, frame + c->out_position, c->frame_size - c->out_position, MSG_NOSIGNAL);
        if (n < 0) {
            if (errno == EAGAIN) return 0;
            fail("send");
        }
        c->out_position += n;
        if (c->out_position == c->frame_size) {
            c->out_position = 0;
            c->sent++;
        }
    }
}

static void take_produce_reply(Connection *c) {
    const uint8_t *p = c->in + 4 + 4 + 1 + 1; // length, correlation id, tags, one topic
    p += 1 + strlen(load.topic) + 1 + 4;
    if (get16(p)) {
        fprintf(stderr, "produce was refused with error %d\n", get16(p));
        exit(1);
    }
    total_bytes += c->frame_size;
    total_records += load.records;
}

static void take_fetch_reply(Connection *c) {
    const uint8_t *p = c->in + 4 + 4 + 4 + 2 + 4 + 4;
    p += 2 + strlen(load.topic) + 4 + 4;
    if (get16(p)) {
        fprintf(stderr, "fetch was refused with error %d\n", get16(p));
        exit(1);
    }
    uint64_t high_watermark = get64(p + 2), last_stable_offset = get64(p + 10);
    p += 2 + 8 + 8 + 8;
    int32_t aborted = get32(p); // producer ids and first offsets; -1 for none
    p += 4 + (aborted > 0 ? aborted * 16 : 0) + 4;
    uint32_t size = get32(p);
    const uint8_t *end = p + 4 + size;
    for (p += 4; end - p >= 61 && p + 12 + get32(p + 8) <= end; p += 12 + get32(p + 8)) {
        uint64_t next = get64(p) + get32(p + 23) + 1;
        if (next > c->fetch_offset) {
            total_records += next - c->fetch_offset;
            c->fetch_offset = next;
        }
    }
    total_bytes += size;
    uint64_t end_offset = load.isolation_level ? last_stable_offset : high_watermark;
    if (c->fetch_offset >= end_offset) c->fetch_offset = 0; // again from the start
}

static size_t reply_size(const Connection *c) {
    size_t size = c->in_position < 4 ? 4 : 4 + (size_t)get32(c->in);
    if (size > c->in_capacity) fail("a reply larger than expected");
    return size;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void sort(Times *times) { qsort(times->seconds, times->count, sizeof *times->seconds, by_value); }

static double percentile_us(const Times *times, double part) {
    if (!times->count) return 0;
    size_t index = times->count * part;
    return times->seconds[index < times->count ? index : times->count - 1] * 1e6;
}

static void record_in_window(double t, double latency) {
    for (; t >= window_end; window_end += WINDOW_SECONDS) {
        if (!window.count) continue; // nothing was answered for so long: the window after it will tell
        sort(&window);
        record(&windows_p99, percentile_us(&window, .99));
        window.count = 0;
    }
    record(&window, latency);
}

static void take_reply(Connection *c) {
    if (get32(c->in + 4) != (uint32_t)c->done) fail("replies out of order");
    double t = now(), due = c->due[c->done % IN_FLIGHT_MAX], sent_at = c->sent_at[c->done % IN_FLIGHT_MAX];
    record(&latencies, t - due);
    if (load.rate > 0) record_in_window(t, t - due);
    record(&delays, sent_at - due);
    record(&answers, t - sent_at);
    if (load.is_fetch) take_fetch_reply(c);
    else take_produce_reply(c);
    total_requests++;
    c->done++;
}

// One call for whatever has arrived, be it half a reply or several.
static void receive_replies(Connection *c) {
    ssize_t n = recv(c->socket, c->in + c->in_position, c->in_capacity - c->in_position, 0);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) fail("the broker closed the connection");
    c->in_position += n;
    for (;;) {
        size_t size = reply_size(c);
        if (c->in_position < 4 || c->in_position < size) return;
        take_reply(c);
        c->in_position -= size;
        if (c->in_position) memmove(c->in, c->in + size, c->in_position);
    }
}

// --- the run -------------------------------------------------------------------------------------------------------

static void report(double elapsed) {
    sort(&latencies);
    sort(&delays);
    sort(&answers);
    printf("{\"seconds\": %.6f, \"requests\": %lu, \"records\": %lu, \"bytes\": %lu, \"p50_us\": %.1f, "
           "\"p99_us\": %.1f, \"p999_us\": %.1f, \"max_us\": %.1f, \"sent_late_p99_us\": %.1f, "
           "\"answered_p99_us\": %.1f, \"windows_p99_us\": [",
           elapsed, total_requests, total_records, total_bytes, percentile_us(&latencies, .5),
           percentile_us(&latencies, .99), percentile_us(&latencies, .999), percentile_us(&latencies, 1),
           percentile_us(&delays, .99), percentile_us(&answers, .99));
    for (size_t i = 0; i < windows_p99.count; i++) printf("%s%.1f", i ? ", " : "", windows_p99.seconds[i]);
    printf("]}\n");
}

// With a rate, a timer wakes the loop when the next request is due: spinning would take a core from the broker.
static void set_timer(int timer, const Connection *connections, double end) {
    double first = end;
    for (int i = 0; i < load.connections; i++)
        if (connections[i].next_due < first) first = connections[i].next_due;
    struct itimerspec when = {.it_value = {.tv_sec = (time_t)first, .tv_nsec = (first - (time_t)first) * 1e9}};
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, 0);
}

static void watch(int poll, Connection *c, int awaits_room) {
    if (c->awaits_room == awaits_room) return;
    struct epoll_event event = {.events = awaits_room ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = c};
    epoll_ctl(poll, EPOLL_CTL_MOD, c->socket, &event);
    c->awaits_room = awaits_room;
}

static void add(int poll, int file, void *pointer) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = pointer};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, file, &event)) fail("epoll");
}

static void run(Connection *connections) {
    int poll = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
    double start = now(), end = start + load.seconds;
    window_end = start + WINDOW_SECONDS;
    if (load.rate > 0) add(poll, timer, NULL);
    for (int i = 0; i < load.connections; i++) {
        connections[i].next_due = start + i * (load.rate > 0 ? 1 / load.rate : 0);
        add(poll, connections[i].socket, &connections[i]);
    }
    for (;;) {
        int stopping = is_stopped || now() >= end || (load.bytes_max && total_bytes >= load.bytes_max), busy = 0;
        for (int i = 0; i < load.connections; i++) {
            Connection *c = &connections[i];
            watch(poll, c, !send_requests(c, stopping));
            busy |= c->sent != c->done || c->out_position;
        }
        if (stopping && !busy) break;
        if (load.rate > 0) set_timer(timer, connections, end);
        struct epoll_event events[64];
        int ready = epoll_wait(poll, events, 64, 100);
        for (int i = 0; i < ready; i++) {
            uint64_t expirations;
            if (events[i].data.ptr) receive_replies(events[i].data.ptr);
            else if (read(timer, &expirations, sizeof expirations) < 0) fail("timer");
        }
    }
    report(now() - start);
}

/* A paced client is an instrument: it is to tell how long the broker takes, not how long it waited for a core
   itself. Where it may, it goes ahead of everybody who has no deadline, for the few microseconds that it needs; else it
   asks for short turns, which get it a core sooner (Linux 6.12; others ignore it). */
static void be_punctual(void) {
    struct sched_param first = {.sched_priority = 1};
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t turn_ns, deadline_ns, period_ns;
    } wish = {.size = sizeof wish, .turn_ns = 100000};
    if (sched_setscheduler(0, SCHED_FIFO, &first)) syscall(SYS_sched_setattr, 0, &wish, 0);
}

int main(int count, char **words) {
    static Connection connections[CONNECTIONS_MAX];
    signal(SIGTERM, stop);
    load.is_fetch = count == 10 && !strcmp(words[1], "fetch");
    if (!load.is_fetch && !(count == 14 && !strcmp(words[1], "produce"))) {
        fprintf(stderr, "usage: see the head of generator.c\n");
        return 2;
    }
    load.port = atoi(words[2]);
    load.topic = words[3];
    load.partitions = atoi(words[4]);
    load.connections = atoi(words[5]);
    load.in_flight = load.variants = 1;
    if (load.is_fetch) {
        load.fetch_bytes = atoi(words[6]);
        load.seconds = atof(words[7]);
        load.bytes_max = strtoull(words[8], 0, 10);
        load.isolation_level = atoi(words[9]);
    } else {
        load.record_bytes = atoi(words[6]);
        load.records = atoi(words[7]);
        load.in_flight = atoi(words[8]);
        load.acks = atoi(words[9]);
        load.seconds = atof(words[10]);
        load.bytes_max = strtoull(words[11], 0, 10);
        load.rate = atof(words[12]);
        load.keys = atoi(words[13]);
        if (load.keys) load.variants = VARIANTS_MAX;
    }
    if (load.rate > 0) be_punctual();
    if (load.in_flight > IN_FLIGHT_MAX || load.connections > CONNECTIONS_MAX) fail("too many in flight or connections");
    for (int i = 0; i < load.connections; i++) {
        open_connection(&connections[i], i);
        prepare_frames(&connections[i]);
    }
    run(connections);
    return 0;
}
