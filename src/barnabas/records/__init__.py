"""RecordBatch v2 as a view on bytes.

Looking for the header, its checksum, patches in place: `batch`. What every produced batch must pass: `check`.
Looking inside a batch: `walk`; for the topic's rules and another codec: `validate`. Writing one: `build`, and
`control` for markers. Codecs: `compress`. Everything that can be wrong: `errors`.
"""
