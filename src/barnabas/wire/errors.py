"""What can go wrong between us and a broker.

    WireError
    ├── SettingsError          what we were told makes no sense; no socket was opened
    │   └── InvalidValueError  one setting's value; the others were not even looked at
    ├── NetworkError           the connection could not be made, broke or stayed silent; a retry may help
    │   ├── NotAvailableError  nobody listens there
    │   │   └── UnresolvedError  there is no such host
    │   └── TimedOutError      no answer in time
    ├── TlsError               the two sides do not believe each other, or one does not speak TLS at all
    ├── DeadlineError          retries used up the whole time allowed; `last` says what the last one met
    ├── VersionError           the broker serves no version of this API that we speak
    └── PeerError              the broker's bytes make no sense

An error *code* in an otherwise fine answer is `barnabas.model.errors.ApiError`, not one of these; a wrong
password is one: SASL_AUTHENTICATION_FAILED.
"""

from __future__ import annotations


class WireError(Exception):
    """Base of everything below."""


class SettingsError(WireError): ...


class InvalidValueError(SettingsError): ...


class NetworkError(WireError): ...


class NotAvailableError(NetworkError): ...


class UnresolvedError(NotAvailableError): ...


class TimedOutError(NetworkError): ...


class TlsError(WireError): ...


class DeadlineError(WireError):
    def __init__(self, message: str, last: Exception | None = None) -> None:
        super().__init__(message)
        self.last = last


class VersionError(WireError): ...


class PeerError(WireError): ...
