"""`listeners`, `advertised.listeners` and `listener.security.protocol.map`, parsed into endpoints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from barnabas.model.endpoint import Endpoint, SecurityProtocol
from barnabas.model.settings.values import SettingError

_ENDPOINT = r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]+)"
_PORT_MAX = 65535


def parse_map(name: str, text: str) -> dict[str, str]:
    """`key:value,key:value`; the last colon separates, so that IPv6 addresses may be keys."""
    pairs: dict[str, str] = {}
    for item in re.split(r"\s*,\s*", text.strip()) if text.strip() else ():
        key, separator, value = item.rpartition(":")
        if not separator:
            raise SettingError(
                f"Error parsing configuration property '{name}': '{item}' is no key:value pair"
            )
        pairs[key.strip()] = value.strip()
    return pairs


def parse_protocols(name: str, text: str) -> dict[str, SecurityProtocol]:
    protocols: dict[str, SecurityProtocol] = {}
    for listener, protocol in parse_map(name, text).items():
        if protocol.upper() not in SecurityProtocol.__members__:
            raise SettingError(f"Invalid security protocol `{protocol}` defined in {name}")
        protocols[listener.upper()] = SecurityProtocol[protocol.upper()]
    return protocols


def listener_name(entry: str) -> str:
    name, separator, _ = entry.partition("://")
    if not separator:
        raise SettingError(f"Unable to parse a listener name from {entry}")
    return name.upper()


def parse_endpoints(
    entries: Sequence[str], protocols: Mapping[str, SecurityProtocol], *, distinct_ports: bool
) -> dict[str, Endpoint]:
    """By listener name. Names must differ; ports too, unless they are only advertised."""
    whole = f"[{', '.join(entries)}]"
    try:
        endpoints = dict(_endpoint(entry, protocols) for entry in entries)
        if len(endpoints) != len(entries):
            raise SettingError(f"Each listener must have a different name, listeners: {whole}")
        if distinct_ports:
            _check_ports(endpoints.values(), whole)
    except SettingError as error:
        raise SettingError(f"Error creating broker listeners from '{whole}': {error}") from None
    return endpoints


def _endpoint(entry: str, protocols: Mapping[str, SecurityProtocol]) -> tuple[str, Endpoint]:
    match = re.fullmatch(_ENDPOINT, entry)
    if match is None or not 0 <= int(match[3]) <= _PORT_MAX:
        raise SettingError(f"Unable to parse {entry} to a broker endpoint")
    name = match[1].upper()
    if name not in protocols:
        raise SettingError(f"No security protocol defined for listener {name}")
    return name, Endpoint(match[2], int(match[3]), protocols[name])


def _check_ports(endpoints: Iterable[Endpoint], whole: str) -> None:
    """Port 0 asks the system for one. An IPv4 and an IPv6 address may share a port; nothing else may."""
    by_port: dict[int, list[Endpoint]] = {}
    for endpoint in endpoints:
        if endpoint.port != 0:
            by_port.setdefault(endpoint.port, []).append(endpoint)
    for port, sharing in by_port.items():
        if len(sharing) == 1:
            continue
        versions = [_address_version(endpoint.host) for endpoint in sharing]
        problem = _sharing_problem([version for version in versions if version], versions.count(None))
        if problem:
            raise SettingError(
                f"{problem}, listeners: {whole}" + (f", port: {port}" if any(versions) else "")
            )


def _sharing_problem(versions: Sequence[int], host_names: int) -> str | None:
    if host_names > 1:
        return "Each listener must have a different port"
    if not versions:
        return None
    if len(versions) != 2:
        return (
            "Each listener must have a different port unless exactly one listener has an IPv4 address "
            "and the other IPv6 address"
        )
    if host_names or versions[0] == versions[1]:
        return "If you have two listeners on the same port then one needs to be IPv4 and the other IPv6"
    return None


def _address_version(host: str) -> int | None:
    import ipaddress  # only shared ports pay for it

    try:
        return ipaddress.ip_address(host.partition("%")[0]).version
    except ValueError:
        return None
