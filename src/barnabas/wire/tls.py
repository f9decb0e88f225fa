"""TLS to one broker. What goes wrong in a handshake is told from what a retry may cure, and said in a
sentence: a certificate does not get younger."""

from __future__ import annotations

import os
import socket
import ssl
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from barnabas.wire.address import Address
from barnabas.wire.cipher_suites import Chosen, choose
from barnabas.wire.errors import NetworkError, SettingsError, TimedOutError, TlsError
from barnabas.wire.security_settings import TlsSettings
from barnabas.wire.stores import Identity, identity, trusted
from barnabas.wire.transport import Dial, PlainTransport, Transport, connected

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_API_VERSIONS_V0 = struct.pack(">ihhih", 10, 18, 0, 1, -1)
_PROBE_TIMEOUT_S = 2.0

# OpenSSL's numbers for what may be wrong with a certificate.
_NOT_YET_VALID, _EXPIRED, _WRONG_HOST, _WRONG_IP = 9, 10, 62, 64
_WITHOUT_KNOWN_ISSUER = frozenset({2, 7, 18, 19, 20, 21})  # 7: another with the same name has


def context_of(settings: TlsSettings) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = settings.verify_hostname
    _choose_versions(context, settings)
    if settings.truststore is None:
        context.load_default_certs()
    else:
        _believe(context, settings.truststore.setting, trusted(settings.truststore))
    if settings.keystore is not None:
        _show(context, settings.keystore.setting, identity(settings.keystore, settings.key_password))
    return context


def dialer(settings: TlsSettings) -> Dial:
    """Reads the stores at once: what is wrong with them is known before anybody dials."""
    context = context_of(settings)

    def dial(address: Address, timeout_s: float) -> Transport:
        plain = connected(address, timeout_s)
        try:
            return TlsTransport(context.wrap_socket(plain, server_hostname=address.host))
        except TimeoutError:
            plain.close()
            raise TimedOutError(f"no TLS handshake with {address} within {timeout_s:g} seconds") from None
        except OSError as error:
            plain.close()
            raise _explained(error, address) from None

    return dial


class TlsTransport(PlainTransport):
    """In TLS 1.3 a broker may refuse our certificate only after the handshake: with the first answer."""

    def _broken(self, error: OSError, doing: str) -> Exception:
        if isinstance(error, ssl.SSLError) and "ALERT" in (error.reason or ""):
            return TlsError(_refusal(error))
        return super()._broken(error, doing)


# --- what to believe and what to show ---------------------------------------------------------------------


def _choose_versions(context: ssl.SSLContext, settings: TlsSettings) -> None:
    chosen: Chosen = choose(settings.cipher_suites)
    names = [name for name in settings.protocols if name in _VERSIONS and chosen.allows(name)]
    if not names:
        raise SettingsError(
            "ssl.enabled.protocols and ssl.cipher.suites leave neither TLSv1.2 nor TLSv1.3 to be spoken"
        )
    context.minimum_version = min(_VERSIONS[name] for name in names)
    context.maximum_version = max(_VERSIONS[name] for name in names)
    if chosen.openssl_names:
        try:
            context.set_ciphers(":".join(chosen.openssl_names))
        except ssl.SSLError:
            raise SettingsError(
                f"ssl.cipher.suites: none of {', '.join(settings.cipher_suites)} can be used here"
            ) from None


def _believe(context: ssl.SSLContext, setting: str, certificates: list[bytes]) -> None:
    # As in Java, whatever is in the store is believed, be it a root or not.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    try:
        context.load_verify_locations(cadata=b"".join(certificates))
    except ssl.SSLError as error:
        raise SettingsError(f"{setting}: a certificate in it cannot be read: {error.reason}") from None


def _show(context: ssl.SSLContext, setting: str, shown: Identity) -> None:
    with _only_for_us(shown.key + shown.chain) as path:
        try:
            # An empty password, not none: without one OpenSSL would ask at the terminal.
            context.load_cert_chain(path, password=shown.password or "")
        except ssl.SSLError as error:
            reason = error.reason or "the key's password (ssl.key.password) is wrong or missing"
            raise SettingsError(f"{setting}: the key cannot be used: {reason}") from None


@contextmanager
def _only_for_us(text: str) -> Iterator[str]:
    """Python takes keys from files only; where the system can, this one is in memory."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("key")
        try:
            os.write(descriptor, text.encode())
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
    else:
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
            file.write(text)
            file.flush()
            yield file.name


# --- what went wrong --------------------------------------------------------------------------------------


def _explained(error: OSError, address: Address) -> Exception:
    if isinstance(error, ssl.SSLCertVerificationError):
        return TlsError(f"SSL handshake with {address} failed: {_about_certificate(error, address)}")
    if isinstance(error, ssl.SSLError) and "ALERT" in (error.reason or ""):
        return TlsError(f"{_refusal(error)} (at {address})")
    if _answers_without_tls(address):
        return TlsError(
            f"SSL handshake with {address} failed: that port does not speak TLS; use the port of an SSL or "
            "SASL_SSL listener, or security.protocol=PLAINTEXT or SASL_PLAINTEXT"
        )
    return NetworkError(f"the TLS handshake with {address} broke: {error}")


def _about_certificate(error: ssl.SSLCertVerificationError, address: Address) -> str:
    code = error.verify_code
    if code == _EXPIRED:
        return "the broker's certificate has expired and has to be renewed"
    if code == _NOT_YET_VALID:
        return "the broker's certificate is not valid yet; compare the clocks"
    if code in (_WRONG_HOST, _WRONG_IP):
        return (
            f"the broker's certificate is not for {address.host}; connect by a name that it has, or set "
            "ssl.endpoint.identification.algorithm to nothing to accept any"
        )
    if code in _WITHOUT_KNOWN_ISSUER:
        return (
            "nobody we trust has signed the broker's certificate; "
            "put the certificate of its authority into ssl.truststore.location"
        )
    return f"the broker's certificate is not acceptable: {error.verify_message}"


def _refusal(error: ssl.SSLError) -> str:
    """An alert is the broker's own complaint."""
    reason = (error.reason or "").partition("ALERT_")[2].replace("_", " ").lower()
    if "certificate" in reason or "ca" in reason.split():
        return (
            f"SSL handshake failed: the broker does not accept our certificate ({reason}); "
            "set ssl.keystore.location to one that it trusts"
        )
    if "protocol version" in reason or "handshake failure" in reason or "insufficient" in reason:
        return (
            f"SSL handshake failed: the broker offers no version or cipher that we do ({reason}); "
            "compare ssl.enabled.protocols and ssl.cipher.suites"
        )
    return f"SSL handshake failed: the broker broke it off ({reason or error})"


def _answers_without_tls(address: Address) -> bool:
    """A plain Kafka listener hangs up on a TLS greeting without a word: ask it in its own language."""
    with suppress(OSError, NetworkError):
        asked: socket.socket = connected(address, _PROBE_TIMEOUT_S)
        with asked:
            asked.sendall(_API_VERSIONS_V0)
            answer = asked.recv(8, socket.MSG_WAITALL)
            return answer[4:] == b"\0\0\0\1"
    return False
