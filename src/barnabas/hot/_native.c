/* The functions of reference.py, in C: the same results for every input, and nothing else.
 *
 * They look at bytes that a peer sent, so every read is preceded by the question whether those bytes are there.
 * Sizes are compared by subtraction from what is left, never by an addition that could overflow. No state, no
 * allocation but of the result; one reads a file, without waiting. Built against the stable ABI of Python 3.11. */

#define _GNU_SOURCE
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

enum {
    CORRELATION_AT = 4, BODY_AT = 8, REQUEST_END = 3,
    LENGTH_AT = 8, MAGIC_AT = 16, CRC_AT = 17, ATTRIBUTES_AT = 21, LAST_DELTA_AT = 23, MAX_TIMESTAMP_AT = 35,
    PRODUCER_ID_AT = 43, SEQUENCE_AT = 53, COUNT_AT = 57, HEADER_SIZE = 61, LOG_OVERHEAD = 12,
    MAGIC = 2, CODEC_MASK = 0x07, ZSTD = 4,
    NOT_PLAIN = 0x08 | 0x10 | 0x20, /* LogAppendTime, transactional, control */
};

typedef struct {
    const uint8_t *at;
    Py_ssize_t size;
} Bytes;

static uint32_t get32(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
static int64_t get64(const uint8_t *p) { return (int64_t)((uint64_t)get32(p) << 32 | get32(p + 4)); }

/* --- arguments ------------------------------------------------------------------------------------------- */

static int bytes_of(PyObject *object, Bytes *bytes) {
    char *start;
    if (PyBytes_AsStringAndSize(object, &start, &bytes->size) < 0) return -1;
    bytes->at = (const uint8_t *)start;
    return 0;
}

static int is_count(Py_ssize_t given, Py_ssize_t wanted, const char *name) {
    if (given == wanted) return 1;
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, not %zd", name, wanted, given);
    return 0;
}

/* Whether `frame` begins with `head` and, behind four bytes of any content, `middle`. */
static int begins(Bytes frame, Bytes head, Bytes middle) {
    return head.size == CORRELATION_AT && frame.size >= BODY_AT && frame.size - BODY_AT >= middle.size
        && memcmp(frame.at + BODY_AT, middle.at, (size_t)middle.size) == 0
        && memcmp(frame.at, head.at, CORRELATION_AT) == 0;
}

/* --- a batch --------------------------------------------------------------------------------------------- */

/* The unsigned varint at the start of `rest`: how many bytes it takes, 0 if it has more than `most` (at most 10),
 * is cut short, or does not fit into 64 bits. */
static Py_ssize_t unsigned_varint(Bytes rest, Py_ssize_t most, uint64_t *value) {
    *value = 0;
    for (Py_ssize_t i = 0; i < most && i < rest.size; i++) {
        uint8_t byte = rest.at[i];
        if (i == 9 && byte > 1) return 0;
        *value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) return i + 1;
    }
    return 0;
}

/* Do the records' length prefixes lead, in `count` steps, exactly to the end? */
static int lengths_agree(Bytes records, uint32_t count) {
    for (; count > 0; count--) {
        uint64_t zigzag;
        Py_ssize_t prefix = unsigned_varint(records, 10, &zigzag);
        if (prefix == 0 || zigzag > UINT32_MAX || zigzag & 1) return 0; /* odd: a negative length */
        Py_ssize_t length = (Py_ssize_t)(zigzag >> 1);
        if (length > records.size - prefix) return 0;
        records.at += prefix + length;
        records.size -= prefix + length;
    }
    return records.size == 0;
}

static int is_plain(Bytes batch) {
    if (batch.size < HEADER_SIZE) return 0;
    const uint8_t *p = batch.at;
    uint32_t length = get32(p + LENGTH_AT), count = get32(p + COUNT_AT);
    int codec = p[ATTRIBUTES_AT + 1] & CODEC_MASK;
    if (length > INT32_MAX || (Py_ssize_t)length != batch.size - LOG_OVERHEAD) return 0;
    if (p[MAGIC_AT] != MAGIC || get64(p) != 0) return 0;
    if (count == 0 || count > INT32_MAX || count - 1 != get32(p + LAST_DELTA_AT)) return 0;
    if (p[ATTRIBUTES_AT + 1] & NOT_PLAIN || codec > ZSTD) return 0;
    if (get64(p + PRODUCER_ID_AT) != -1 && get32(p + SEQUENCE_AT) > INT32_MAX) return 0;
    Bytes records = {p + HEADER_SIZE, batch.size - HEADER_SIZE};
    return codec != 0 || lengths_agree(records, count);
}

/* --- plain_batch(frame, head, middle) ---------------------------------------------------------------------- */

/* The batch of a Produce request whose other bytes are known; size 0 if there is none. */
static Bytes find_batch(Bytes frame, Bytes head, Bytes middle) {
    Bytes none = {NULL, 0};
    if (!begins(frame, head, middle)) return none;
    Bytes rest = {frame.at + BODY_AT + middle.size, frame.size - BODY_AT - middle.size};
    uint64_t size;
    Py_ssize_t prefix = unsigned_varint(rest, 5, &size);
    if (prefix == 0 || size == 0 || rest.size - prefix < REQUEST_END) return none;
    Py_ssize_t room = rest.size - prefix - REQUEST_END;
    if (size - 1 != (uint64_t)room) return none;
    Bytes batch = {rest.at + prefix, room};
    return memcmp(batch.at + batch.size, "\0\0\0", REQUEST_END) == 0 ? batch : none;
}

static PyObject *six(const long long *values) {
    PyObject *tuple = PyTuple_New(6);
    for (Py_ssize_t i = 0; tuple != NULL && i < 6; i++) {
        PyObject *number = PyLong_FromLongLong(values[i]);
        if (number == NULL || PyTuple_SetItem(tuple, i, number) < 0) {
            Py_DECREF(tuple);
            return NULL;
        }
    }
    return tuple;
}

static PyObject *plain_batch(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    Bytes head, middle;
    Py_buffer view;
    if (!is_count(count, 3, "plain_batch")) return NULL;
    if (bytes_of(arguments[1], &head) < 0 || bytes_of(arguments[2], &middle) < 0) return NULL;
    if (PyObject_GetBuffer(arguments[0], &view, PyBUF_SIMPLE) < 0) return NULL;
    Bytes frame = {view.buf, view.len};
    Bytes batch = find_batch(frame, head, middle);
    PyObject *result;
    if (is_plain(batch)) {
        Py_ssize_t start = batch.at - frame.at;
        const uint8_t *p = batch.at;
        long long values[6] = {
            start, start + batch.size, get32(p + CRC_AT), get32(p + LAST_DELTA_AT),
            get64(p + MAX_TIMESTAMP_AT), get64(p + PRODUCER_ID_AT),
        };
        result = six(values);
    } else {
        result = Py_NewRef(Py_None);
    }
    PyBuffer_Release(&view);
    return result;
}

/* --- fetch_offset(frame, head, before, after) ---------------------------------------------------------------- */

static PyObject *fetch_offset(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    Bytes head, before, after;
    Py_buffer view;
    if (!is_count(count, 4, "fetch_offset")) return NULL;
    if (bytes_of(arguments[1], &head) < 0 || bytes_of(arguments[2], &before) < 0
        || bytes_of(arguments[3], &after) < 0) return NULL;
    if (PyObject_GetBuffer(arguments[0], &view, PyBUF_SIMPLE) < 0) return NULL;
    Bytes frame = {view.buf, view.len};
    PyObject *result = NULL;
    if (begins(frame, head, before)) {
        Bytes rest = {frame.at + BODY_AT + before.size, frame.size - BODY_AT - before.size};
        if (rest.size >= 8 && rest.size - 8 == after.size
            && memcmp(rest.at + 8, after.at, (size_t)after.size) == 0)
            result = PyLong_FromLongLong(get64(rest.at));
        else
            result = Py_NewRef(Py_None);
    } else {
        result = Py_NewRef(Py_None);
    }
    PyBuffer_Release(&view);
    return result;
}

/* --- offset_behind(records) ---------------------------------------------------------------------------------- */

/* -1 if there is no whole batch. */
static int64_t find_offset_behind(Bytes records) {
    int64_t offset = -1;
    while (records.size >= HEADER_SIZE) {
        const uint8_t *p = records.at;
        uint32_t length = get32(p + LENGTH_AT), last_delta = get32(p + LAST_DELTA_AT);
        uint64_t behind = (uint64_t)get64(p) + last_delta + 1;
        if (length > INT32_MAX || length < HEADER_SIZE - LOG_OVERHEAD) break;
        if ((Py_ssize_t)length > records.size - LOG_OVERHEAD) break;
        if (get64(p) < 0 || last_delta > INT32_MAX || behind > INT64_MAX) break;
        offset = (int64_t)behind;
        records.at += LOG_OVERHEAD + (Py_ssize_t)length;
        records.size -= LOG_OVERHEAD + (Py_ssize_t)length;
    }
    return offset;
}

static PyObject *offset_behind(PyObject *Py_UNUSED(module), PyObject *argument) {
    Py_buffer view;
    if (PyObject_GetBuffer(argument, &view, PyBUF_SIMPLE) < 0) return NULL;
    Bytes records = {view.buf, view.len};
    int64_t offset = find_offset_behind(records);
    PyBuffer_Release(&view);
    return offset < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(offset);
}

/* --- gather(buffer, head, fd, position, size, tail) ------------------------------------------------------------ */

/* -1 if it does not fit or is not all in memory. Other threads wait meanwhile, a few microseconds: to give them
 * the interpreter would cost the caller its turn. */
static Py_ssize_t put_together(
    Py_buffer *buffer, Bytes head, int fd, long long position, Py_ssize_t size, Bytes tail) {
    uint8_t *to = buffer->buf;
    if (head.size > buffer->len || size < 0 || size > buffer->len - head.size) return -1;
    if (tail.size > buffer->len - head.size - size) return -1;
    struct iovec records = {to + head.size, (size_t)size};
    if (preadv2(fd, &records, 1, (off_t)position, RWF_NOWAIT) != size) return -1;
    memcpy(to, head.at, (size_t)head.size);
    memcpy(to + head.size + size, tail.at, (size_t)tail.size);
    return head.size + size + tail.size;
}

static PyObject *gather(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    Bytes head, tail;
    Py_buffer buffer;
    if (!is_count(count, 6, "gather")) return NULL;
    long fd = PyLong_AsLong(arguments[2]);
    long long position = PyLong_AsLongLong(arguments[3]);
    Py_ssize_t size = PyLong_AsSsize_t(arguments[4]);
    if (PyErr_Occurred()) return NULL;
    if (bytes_of(arguments[1], &head) < 0 || bytes_of(arguments[5], &tail) < 0) return NULL;
    if (PyObject_GetBuffer(arguments[0], &buffer, PyBUF_WRITABLE) < 0) return NULL;
    Py_ssize_t gathered = put_together(&buffer, head, (int)fd, position, size, tail);
    PyBuffer_Release(&buffer);
    return PyLong_FromSsize_t(gathered);
}

/* --- the module -------------------------------------------------------------------------------------------- */

static PyMethodDef methods[] = {
    {"plain_batch", (PyCFunction)(void (*)(void))plain_batch, METH_FASTCALL, "See reference.plain_batch."},
    {"fetch_offset", (PyCFunction)(void (*)(void))fetch_offset, METH_FASTCALL, "See reference.fetch_offset."},
    {"offset_behind", offset_behind, METH_O, "See reference.offset_behind."},
    {"gather", (PyCFunction)(void (*)(void))gather, METH_FASTCALL, "See reference.gather."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "barnabas.hot._native", "The hot steps of Produce and Fetch.", 0, methods, slots,
    NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&module); }
