"""The Python API: Producer and Consumer over librdkafka, Admin over our own wire client."""

import logging

from barnabas.client.admin import Admin, Offsets, Partition, Topic
from barnabas.client.consumer import Consumer
from barnabas.client.errors import ClientError, ConsumeError, DeliveryError, Failure
from barnabas.client.producer import Delivery, Producer, RecordMetadata
from barnabas.client.record import Record
from barnabas.client.serialise import from_json, text, to_json

__all__ = [
    "Admin",
    "ClientError",
    "ConsumeError",
    "Consumer",
    "Delivery",
    "DeliveryError",
    "Failure",
    "Offsets",
    "Partition",
    "Producer",
    "Record",
    "RecordMetadata",
    "Topic",
    "from_json",
    "text",
    "to_json",
]

# librdkafka's log lines go to this logger; nothing is printed unless the program asks for it.
logging.getLogger("barnabas.client").addHandler(logging.NullHandler())
