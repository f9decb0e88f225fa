"""Which endpoints a broker opens, advertises and uses among brokers, and what they must satisfy together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from barnabas.model.endpoint import Endpoint, SecurityProtocol
from barnabas.model.settings.listener_syntax import listener_name, parse_endpoints, parse_protocols
from barnabas.model.settings.typed import TypedValues
from barnabas.model.settings.values import SettingError, require

_MAP = "listener.security.protocol.map"


class Listeners(NamedTuple):
    """Endpoints by listener name."""

    opened: Mapping[str, Endpoint]
    advertised: Mapping[str, Endpoint]
    controllers: Mapping[str, Endpoint]
    inter_broker: str


def resolve(settings: TypedValues, texts: Mapping[str, str]) -> Listeners:
    protocols = _protocols(settings, texts)
    controller_names = {name.upper() for name in settings.names("controller.listener.names")}
    opened = parse_endpoints(settings.names("listeners"), protocols, distinct_ports=True)
    entries = settings.names("advertised.listeners") or settings.names("listeners")
    advertised = {
        name: endpoint
        for name, endpoint in parse_endpoints(entries, protocols, distinct_ports=False).items()
        if name not in controller_names
    }
    inter_broker = _inter_broker(settings, texts, protocols)
    _check_advertised(opened, advertised, inter_broker)
    return Listeners(
        {name: endpoint for name, endpoint in opened.items() if name not in controller_names},
        advertised,
        {name: endpoint for name, endpoint in opened.items() if name in controller_names},
        inter_broker,
    )


def _protocols(settings: TypedValues, texts: Mapping[str, str]) -> dict[str, SecurityProtocol]:
    """Without an explicit map, controller listeners are plain as long as everything else is."""
    protocols = parse_protocols(_MAP, settings.text(_MAP))
    if _MAP in texts:
        return protocols
    controllers = [name.upper() for name in settings.names("controller.listener.names")]
    names = {listener_name(entry) for entry in settings.names("listeners")} | set(controllers)
    if not names & {"SSL", "SASL_SSL", "SASL_PLAINTEXT"}:
        protocols.update(dict.fromkeys(controllers, SecurityProtocol.PLAINTEXT))
    return protocols


def _inter_broker(
    settings: TypedValues, texts: Mapping[str, str], protocols: Mapping[str, SecurityProtocol]
) -> str:
    name = settings.optional_text("inter.broker.listener.name")
    if name is None:
        return settings.text("security.inter.broker.protocol")
    if "security.inter.broker.protocol" in texts:
        raise SettingError(
            "Only one of inter.broker.listener.name and security.inter.broker.protocol should be set."
        )
    if name.upper() not in protocols:
        raise SettingError(
            f"Listener with name {name.upper()} defined in inter.broker.listener.name not found in {_MAP}."
        )
    return name.upper()


def _check_advertised(
    opened: Mapping[str, Endpoint], advertised: Mapping[str, Endpoint], inter_broker: str
) -> None:
    require(
        bool(advertised),
        "There must be at least one broker advertised listener. "
        "Perhaps all listeners appear in controller.listener.names? "
        "Clients would be told of no address at all.",
    )
    names = ",".join(advertised)
    require(
        inter_broker in advertised,
        "inter.broker.listener.name must be a listener name defined in advertised.listeners. "
        f"The valid options based on currently configured listeners are {names}. The other brokers would "
        "find no address of this one, and clients would see partitions that never have all replicas in sync.",
    )
    require(
        advertised.keys() <= opened.keys(),
        "advertised.listeners listener names must be equal to or a subset of the ones defined in listeners. "
        f"Found {names}. The valid options based on the current configuration are "
        f"{','.join(opened)}. Clients would be sent where this broker does not listen.",
    )
    require(
        all(endpoint.host != "0.0.0.0" for endpoint in advertised.values()),
        "advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. Use a routable IP address. "
        "Clients on other machines would be sent to themselves.",
    )
