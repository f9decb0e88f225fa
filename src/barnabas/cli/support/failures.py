"""Failures as Kafka's tools print them: some name the Java exception, so every error has that name here."""

from __future__ import annotations

from barnabas.cli.support.log_lines import log
from barnabas.cli.support.options import OptionError
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.wire import DeadlineError, InvalidValueError, SettingsError, TlsError, VersionError, WireError

# Most exceptions are called like their error code; these are not.
_JAVA_NAMES = {
    ErrorCode.UNKNOWN_SERVER_ERROR: "UnknownServerException",
    ErrorCode.CORRUPT_MESSAGE: "CorruptRecordException",
    ErrorCode.REQUEST_TIMED_OUT: "TimeoutException",
    ErrorCode.MESSAGE_TOO_LARGE: "RecordTooLargeException",
    ErrorCode.STALE_CONTROLLER_EPOCH: "ControllerMovedException",
    ErrorCode.OFFSET_METADATA_TOO_LARGE: "OffsetMetadataTooLarge",
    ErrorCode.NETWORK_EXCEPTION: "NetworkException",
    ErrorCode.INVALID_TOPIC_EXCEPTION: "InvalidTopicException",
    ErrorCode.RECORD_LIST_TOO_LARGE: "RecordBatchTooLargeException",
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "TopicAuthorizationException",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "GroupAuthorizationException",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "ClusterAuthorizationException",
    ErrorCode.TOPIC_ALREADY_EXISTS: "TopicExistsException",
    ErrorCode.INVALID_CONFIG: "InvalidConfigurationException",
    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER: "OutOfOrderSequenceException",
    ErrorCode.DUPLICATE_SEQUENCE_NUMBER: "DuplicateSequenceException",
    ErrorCode.INVALID_PRODUCER_ID_MAPPING: "InvalidPidMappingException",
    ErrorCode.INVALID_TRANSACTION_TIMEOUT: "InvalidTxnTimeoutException",
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "TransactionalIdAuthorizationException",
    ErrorCode.KAFKA_STORAGE_ERROR: "KafkaStorageException",
    ErrorCode.SASL_AUTHENTICATION_FAILED: "SaslAuthenticationException",
    ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED: "DelegationTokenDisabledException",
    ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED: "UnsupportedByAuthenticationException",
    ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED: "DelegationTokenAuthorizationException",
    ErrorCode.NON_EMPTY_GROUP: "GroupNotEmptyException",
    ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE: "PrincipalDeserializationException",
    ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR: "FetchSessionTopicIdException",
    ErrorCode.INVALID_REGULAR_EXPRESSION: "InvalidRegularExpression",
}
# And these are not where the others are.
_ELSEWHERE = {ErrorCode.INVALID_RECORD: "org.apache.kafka.common.InvalidRecordException"}


class ToolError(Exception):
    """What a tool itself finds wrong. `java_name` is the class Kafka's tool would have thrown."""

    def __init__(self, message: str, java_name: str = "java.lang.IllegalArgumentException") -> None:
        super().__init__(message)
        self.java_name = java_name


class NoFileError(ToolError):
    """A properties file that is not there: Java's exception says nothing but its path."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "java.nio.file.NoSuchFileException")


NO_CLIENT = "Failed to create new KafkaAdminClient"
FAILURES = (ToolError, ApiError, WireError)  # what a tool answers for; anything else is a bug of ours


def java_name(error: Exception) -> str:
    """The exception's class as Kafka's tools would print it."""
    if isinstance(error, ToolError):
        return error.java_name
    if isinstance(error, OptionError):
        return "joptsimple.OptionArgumentConversionException"
    if isinstance(error, SettingsError):
        return "org.apache.kafka.common.config.ConfigException"
    if isinstance(error, ApiError) and error.code in _ELSEWHERE:
        return _ELSEWHERE[error.code]
    return f"org.apache.kafka.common.errors.{_short_name(error)}"


def _short_name(error: Exception) -> str:
    if isinstance(error, VersionError):
        return "UnsupportedVersionException"
    if isinstance(error, TlsError):
        return "SslAuthenticationException"
    if not isinstance(error, ApiError):
        return "TimeoutException"
    words = error.code.name.split("_")
    return _JAVA_NAMES.get(error.code) or "".join(word.capitalize() for word in words) + "Exception"


def sentence(error: Exception, call: str) -> str:
    """What went wrong; `call` is what Kafka's admin client calls the request that never found a broker."""
    if isinstance(error, SettingsError) and not isinstance(error, InvalidValueError):
        return f"{NO_CLIENT}\n{error}"
    if isinstance(error, DeadlineError):
        return f"Timed out waiting for a node assignment. Call: {call}"
    return str(error)


def log_refusal(api: str, partition: object, error: ApiError, who: str = "adminclient-1") -> None:
    """What Kafka's admin client logs when an answer holds an error it cannot wait out."""
    request = f"[AdminClient clientId={who}] {api} request for topic partition {partition}"
    handler = f"org.apache.kafka.clients.admin.internals.{api}Handler"
    log("ERROR", f"{request} failed due to an unexpected error {error.code.name}", handler)


def log_error(error: Exception, call: str, source: str) -> None:
    """The line Kafka's tools log beside the one they print."""
    log("ERROR", f"{java_name(error)}: {sentence(error, call)}\n", source)
