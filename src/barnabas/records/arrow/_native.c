/* Inner loops in C: find the fields of records, copy them out, lay records out, and look records over. The same
 * results as the Python of fields_reference.py, binary.py, layout_reference.py and ../summary.py for every input,
 * and nothing else.
 *
 * The bytes come from a peer, so every read is preceded by the question whether those bytes are there, and sizes
 * are compared by subtraction from what is left, never by an addition that could overflow. No state, no input or
 * output, no allocation but of the result. Built against the stable ABI of Python 3.11. */

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { FIELD_COUNT = 8, REGION_WIDTH = 4 };

/* --- arguments ------------------------------------------------------------------------------------------- */

typedef struct {
    const int64_t *at;
    Py_ssize_t count;
} Ints;

/* All or none: on failure nothing is left to release. */
static int get_views(PyObject *const *objects, Py_buffer *views, Py_ssize_t count, Py_ssize_t writable) {
    for (Py_ssize_t i = 0; i < count; i++) {
        int flags = i == writable ? PyBUF_WRITABLE : PyBUF_SIMPLE;
        if (PyObject_GetBuffer(objects[i], &views[i], flags) == 0) continue;
        while (i-- > 0) PyBuffer_Release(&views[i]);
        return -1;
    }
    return 0;
}

static void release_views(Py_buffer *views, Py_ssize_t count) {
    for (Py_ssize_t i = 0; i < count; i++) PyBuffer_Release(&views[i]);
}

static int is_count(Py_ssize_t given, Py_ssize_t wanted, const char *name) {
    if (given == wanted) return 1;
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, not %zd", name, wanted, given);
    return 0;
}

static Ints ints_of(const Py_buffer *view) {
    Ints ints = {view->buf, view->len / (Py_ssize_t)sizeof(int64_t)};
    return ints;
}

/* --- reading --------------------------------------------------------------------------------------------- */

typedef struct {
    const uint8_t *at, *end;
} Rest;

static int read_long_form(Rest *rest, int64_t *value) {
    uint64_t zigzag = 0;
    for (int i = 0; i < 10; i++) {
        if (rest->at == rest->end) return 0;
        uint8_t byte = *rest->at++;
        if (i == 9 && byte > 1) return 0;
        zigzag |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *value = (int64_t)(zigzag >> 1 ^ (0 - (zigzag & 1)));
            return 1;
        }
    }
    return 0;
}

static inline int read_varlong(Rest *rest, int64_t *value) {
    if (rest->at == rest->end) return 0;
    int64_t byte = *rest->at;
    if (byte >= 0x80) return read_long_form(rest, value);
    rest->at++;
    *value = byte >> 1 ^ -(byte & 1);
    return 1;
}

static inline int read_varint(Rest *rest, int64_t *value) {
    return read_varlong(rest, value) && *value >= INT32_MIN && *value <= INT32_MAX;
}

/* A length, -1 and below for null, and as many bytes. */
static inline int read_bytes(Rest *rest, int64_t *length, const uint8_t **start) {
    if (!read_varint(rest, length)) return 0;
    *start = rest->at;
    if (*length <= 0) return 1;
    if (*length > rest->end - rest->at) return 0;
    rest->at += *length;
    return 1;
}

static int skip_headers(Rest *rest) {
    int64_t count, length;
    const uint8_t *start;
    if (!read_varint(rest, &count) || count < 0 || count > rest->end - rest->at) return 0;
    for (; count > 0; count--) {
        if (!read_bytes(rest, &length, &start) || length < 0) return 0;
        if (!read_bytes(rest, &length, &start)) return 0;
    }
    return 1;
}

typedef struct {
    int64_t timestamp_delta, offset_delta, key_length, value_length;
    const uint8_t *key, *value, *headers, *end;
} Record;

static inline int read_record(Rest *rest, Record *record) {
    int64_t length;
    if (!read_varint(rest, &length) || length < 1 || length > rest->end - rest->at) return 0;
    Rest body = {rest->at + 1, rest->at + length}; /* behind the attributes, which are unused */
    rest->at = record->end = body.end;
    if (!read_varlong(&body, &record->timestamp_delta) || !read_varint(&body, &record->offset_delta)) return 0;
    if (!read_bytes(&body, &record->key_length, &record->key)) return 0;
    if (!read_bytes(&body, &record->value_length, &record->value)) return 0;
    record->headers = body.at;
    return skip_headers(&body) && body.at == body.end;
}

static int find_in_region(const uint8_t *data, Rest rest, int64_t count, int64_t last_delta, int64_t *out,
                          Py_ssize_t stride) {
    int64_t previous_delta = -1;
    for (; count > 0; count--, out++) {
        Record record;
        if (!read_record(&rest, &record)) return 0;
        if (record.offset_delta <= previous_delta || record.offset_delta > last_delta) return 0;
        previous_delta = record.offset_delta;
        out[0] = record.timestamp_delta;
        out[stride] = record.offset_delta;
        out[2 * stride] = record.key - data;
        out[3 * stride] = record.key_length;
        out[4 * stride] = record.value - data;
        out[5 * stride] = record.value_length;
        out[6 * stride] = record.headers - data;
        out[7 * stride] = record.end - data;
    }
    return rest.at == rest.end;
}

static int find_in_regions(const Py_buffer *data, Ints regions, int64_t *out, Py_ssize_t total) {
    Py_ssize_t done = 0;
    for (const int64_t *region = regions.at; region < regions.at + regions.count; region += REGION_WIDTH) {
        int64_t start = region[0], end = region[1], count = region[2];
        if (start < 0 || end < start || end > data->len || count < 0 || count > total - done) return 0;
        const uint8_t *bytes = data->buf;
        Rest rest = {bytes + start, bytes + end};
        if (!find_in_region(bytes, rest, count, region[3], out + done, total)) return 0;
        done += (Py_ssize_t)count;
    }
    return done == total;
}

/* find_fields(data, regions, out) -> bool. `regions`: start, end, count and last offset delta of each, int64;
 * `out`: a row of int64 for each field, in the order of Fields. False if the records are not sound. */
static PyObject *find_fields(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    Py_buffer views[3];
    if (!is_count(count, 3, "find_fields") || get_views(arguments, views, 3, 2) < 0) return NULL;
    Ints regions = ints_of(&views[1]), out = ints_of(&views[2]);
    if (regions.count % REGION_WIDTH != 0 || out.count % FIELD_COUNT != 0) {
        release_views(views, 3);
        PyErr_SetString(PyExc_ValueError, "find_fields: buffers of the wrong size");
        return NULL;
    }
    int is_sound;
    Py_BEGIN_ALLOW_THREADS
    is_sound = find_in_regions(&views[0], regions, views[2].buf, out.count / FIELD_COUNT);
    Py_END_ALLOW_THREADS
    release_views(views, 3);
    return PyBool_FromLong(is_sound);
}

/* --- looking over ---------------------------------------------------------------------------------------- */

typedef struct {
    int64_t earliest, latest, without_key;
} Summary;

static int look_over(Rest rest, int64_t count, int64_t last_delta, Summary *summary) {
    int64_t previous_delta = -1;
    for (int64_t i = 0; i < count; i++) {
        Record record;
        if (!read_record(&rest, &record)) return 0;
        if (record.offset_delta <= previous_delta || record.offset_delta > last_delta) return 0;
        previous_delta = record.offset_delta;
        int64_t timestamp = record.timestamp_delta;
        if (i == 0 || timestamp < summary->earliest) summary->earliest = timestamp;
        if (i == 0 || timestamp > summary->latest) summary->latest = timestamp;
        summary->without_key += record.key_length < 0;
    }
    return count > 0 && rest.at == rest.end;
}

/* summarise(payload, count, last_offset_delta) -> (smallest and largest timestamp delta, how many records have no
 * key); None if the records are not sound, or if there are none. */
static PyObject *summarise(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t argument_count) {
    if (!is_count(argument_count, 3, "summarise")) return NULL;
    long long count = PyLong_AsLongLong(arguments[1]), last_delta = PyLong_AsLongLong(arguments[2]);
    if (PyErr_Occurred()) return NULL;
    Py_buffer view;
    if (get_views(arguments, &view, 1, -1) < 0) return NULL;
    Rest rest = {view.buf, (const uint8_t *)view.buf + view.len};
    Summary summary = {0, 0, 0};
    int is_sound;
    Py_BEGIN_ALLOW_THREADS
    is_sound = look_over(rest, count, last_delta, &summary);
    Py_END_ALLOW_THREADS
    release_views(&view, 1);
    if (!is_sound) return Py_NewRef(Py_None);
    return Py_BuildValue("LLL", (long long)summary.earliest, (long long)summary.latest,
                         (long long)summary.without_key);
}

/* --- copying --------------------------------------------------------------------------------------------- */

static int copy_pieces(const Py_buffer *data, Ints start, Ints length, int32_t *offsets, const Py_buffer *out) {
    const uint8_t *bytes = data->buf;
    uint8_t *begin = out->buf, *at = begin, *end = begin + out->len;
    for (Py_ssize_t i = 0; i < start.count; i++) {
        int64_t from = start.at[i], size = length.at[i];
        offsets[i] = (int32_t)(at - begin);
        if (size <= 0) continue;
        if (from < 0 || from > data->len || size > data->len - from || size > end - at) return 0;
        memcpy(at, bytes + from, (size_t)size);
        at += size;
    }
    offsets[start.count] = (int32_t)(at - begin);
    return at == end;
}

/* gather(data, starts, lengths, offsets, out) -> bool: the pieces in a row, and where each begins. False if they
 * lie outside of `data` or do not fill `out` exactly. */
static PyObject *gather(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count) {
    Py_buffer views[5];
    if (!is_count(count, 5, "gather") || get_views(arguments, views, 5, 3) < 0) return NULL;
    Ints start = ints_of(&views[1]), length = ints_of(&views[2]);
    int is_sound = 0;
    if (start.count == length.count && views[4].len <= INT32_MAX && !views[4].readonly
        && views[3].len / (Py_ssize_t)sizeof(int32_t) == start.count + 1) {
        Py_BEGIN_ALLOW_THREADS
        is_sound = copy_pieces(&views[0], start, length, views[3].buf, &views[4]);
        Py_END_ALLOW_THREADS
    }
    release_views(views, 5);
    return PyBool_FromLong(is_sound);
}

/* --- writing --------------------------------------------------------------------------------------------- */

/* Pieces of `data`, each with its start and its length; a length of -1 is null. */
typedef struct {
    const uint8_t *data;
    Py_ssize_t size;
    Ints start, length;
} Column;

static Column column_of(const Py_buffer *views) {
    Column column = {views[0].buf, views[0].len, ints_of(&views[1]), ints_of(&views[2])};
    return column;
}

static int is_sound_piece(Column column, Py_ssize_t row) {
    int64_t start = column.start.at[row], length = column.length.at[row];
    if (length == -1) return 1;
    return length >= 0 && length <= INT32_MAX && start >= 0 && start <= column.size
        && length <= column.size - start;
}

static inline int size_of_varint(int64_t value) {
    uint64_t zigzag = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
    int size = 1;
    for (; zigzag > 0x7f; zigzag >>= 7) size++;
    return size;
}

static inline uint8_t *write_varint(uint8_t *at, int64_t value) {
    uint64_t zigzag = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
    for (; zigzag > 0x7f; zigzag >>= 7) *at++ = (uint8_t)(zigzag | 0x80);
    *at++ = (uint8_t)zigzag;
    return at;
}

static inline int64_t piece_length(Column column, Py_ssize_t row) {
    int64_t length = column.length.at[row];
    return length < 0 ? 0 : length;
}

static inline uint8_t *write_piece(uint8_t *at, Column column, Py_ssize_t row) {
    int64_t length = piece_length(column, row);
    if (length > 0) memcpy(at, column.data + column.start.at[row], (size_t)length);
    return at + length;
}

enum { LAID_OUT, NO_ROOM, NOT_SOUND };

/* keys, values, headers: those are written already, with their count before them, or left out as a whole. */
static int lay_out_record(const Column *columns, Py_ssize_t row, int64_t offset_delta, uint8_t **at, uint8_t *end) {
    Column keys = columns[0], values = columns[1], headers = columns[2];
    int has_headers = headers.start.count > 0;
    if (!is_sound_piece(keys, row) || !is_sound_piece(values, row)) return NOT_SOUND;
    if (has_headers && !is_sound_piece(headers, row)) return NOT_SOUND;
    int64_t key_length = keys.length.at[row], value_length = values.length.at[row];
    int64_t body = 2 + size_of_varint(offset_delta) + size_of_varint(key_length) + piece_length(keys, row)
        + size_of_varint(value_length) + piece_length(values, row)
        + (has_headers ? piece_length(headers, row) : 1);
    if (body > INT32_MAX) return NOT_SOUND;
    if (size_of_varint(body) + body > end - *at) return NO_ROOM;
    uint8_t *position = write_varint(*at, body);
    *position++ = 0; /* attributes: unused */
    *position++ = 0; /* timestamp delta */
    position = write_varint(position, offset_delta);
    position = write_piece(write_varint(position, key_length), keys, row);
    position = write_piece(write_varint(position, value_length), values, row);
    if (has_headers) position = write_piece(position, headers, row);
    else *position++ = 0;
    *at = position;
    return LAID_OUT;
}

static int lay_out_records(const Column *columns, Py_ssize_t first, Py_ssize_t behind, const Py_buffer *out,
                           Py_ssize_t *count, Py_ssize_t *size) {
    uint8_t *at = out->buf, *end = at + out->len;
    Py_ssize_t row = first;
    int outcome = LAID_OUT;
    for (; row < behind; row++) {
        outcome = lay_out_record(columns, row, row - first, &at, end);
        if (outcome != LAID_OUT) break;
    }
    *count = row - first;
    *size = at - (uint8_t *)out->buf;
    return outcome != NOT_SOUND;
}

static int are_equally_long(const Column *columns) {
    Py_ssize_t count = columns[1].start.count;
    return columns[1].length.count == count && columns[0].start.count == count && columns[0].length.count == count
        && columns[2].length.count == columns[2].start.count
        && (columns[2].start.count == 0 || columns[2].start.count == count);
}

/* lay_out(key data, starts, lengths, value data, starts, lengths, header data, starts, lengths, out, first, behind)
 * -> (count, size): as many of the rows [first, behind), with offset deltas from 0 on, as fit into `out`. */
static PyObject *lay_out(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t argument_count) {
    Py_buffer views[10];
    if (!is_count(argument_count, 12, "lay_out")) return NULL;
    Py_ssize_t first = PyLong_AsSsize_t(arguments[10]), behind = PyLong_AsSsize_t(arguments[11]);
    if (PyErr_Occurred()) return NULL;
    if (get_views(arguments, views, 10, 9) < 0) return NULL;
    Column columns[3] = {column_of(views), column_of(views + 3), column_of(views + 6)};
    Py_ssize_t count = 0, size = 0;
    int is_sound = 0;
    if (first >= 0 && behind <= columns[1].start.count && are_equally_long(columns)) {
        Py_BEGIN_ALLOW_THREADS
        is_sound = lay_out_records(columns, first, behind, &views[9], &count, &size);
        Py_END_ALLOW_THREADS
    }
    release_views(views, 10);
    if (is_sound) return Py_BuildValue("nn", count, size);
    PyErr_SetString(PyExc_ValueError, "lay_out: columns that contradict themselves");
    return NULL;
}

/* --- the module ------------------------------------------------------------------------------------------ */

static PyMethodDef methods[] = {
    {"find_fields", (PyCFunction)(void (*)(void))find_fields, METH_FASTCALL, "See fields.find_fields."},
    {"gather", (PyCFunction)(void (*)(void))gather, METH_FASTCALL, "See binary.gather."},
    {"lay_out", (PyCFunction)(void (*)(void))lay_out, METH_FASTCALL, "See layout.payloads."},
    {"summarise", (PyCFunction)(void (*)(void))summarise, METH_FASTCALL, "See summary.summarise."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "barnabas.records.arrow._native", "The inner loops of columns.", 0, methods, slots,
    NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&module); }
