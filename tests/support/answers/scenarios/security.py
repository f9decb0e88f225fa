"""SASL, ACLs, delegation tokens, SCRAM and quotas, asked of a broker that has none of them."""

from __future__ import annotations

from tests.support.answers.dialogue import Dialogue
from tests.support.answers.scenario import scenario

from barnabas.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from barnabas.protocol.messages.create_delegation_token import CreateDelegationTokenRequest
from barnabas.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from barnabas.protocol.messages.describe_acls import DescribeAclsRequest
from barnabas.protocol.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from barnabas.protocol.messages.describe_delegation_token import DescribeDelegationTokenRequest
from barnabas.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from barnabas.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest
from barnabas.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from barnabas.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from barnabas.protocol.messages.sasl_handshake import SaslHandshakeRequest

_ANY = 1


@scenario
def without_sasl(dialogue: Dialogue) -> None:
    dialogue.ask("handshake", SaslHandshakeRequest("PLAIN"))
    dialogue.ask("unknown mechanism", SaslHandshakeRequest("NONE-SUCH"))
    dialogue.ask("authenticate", SaslAuthenticateRequest(b"\0name\0password"))
    dialogue.ask("again", SaslHandshakeRequest("SCRAM-SHA-256"))


@scenario
def without_authorizer(dialogue: Dialogue) -> None:
    rule = AclCreation(2, "topic", 3, "User:alice", "*", 3, 3)
    dialogue.ask("one rule", CreateAclsRequest([rule]))
    dialogue.ask("two rules", CreateAclsRequest([rule, AclCreation(2, "", 3, "nonsense", "*", 3, 3)]))
    dialogue.ask("no rule", CreateAclsRequest())
    every = DescribeAclsRequest(_ANY, None, _ANY, None, None, _ANY, _ANY)
    dialogue.ask("show all", every)
    dialogue.ask("show one", DescribeAclsRequest(2, "topic", 3, "User:alice", "*", 3, 3))
    filters = [DeleteAclsFilter(_ANY, None, _ANY, None, None, _ANY, _ANY)]
    dialogue.ask("delete all", DeleteAclsRequest(filters))
    dialogue.ask("delete twice", DeleteAclsRequest(filters * 2))
    dialogue.ask("delete none", DeleteAclsRequest())
    for kinds in ((0, 3, 3, 3), (2, 0, 3, 3), (2, 3, 0, 3), (2, 3, 3, 0), (99, 3, -1, 99)):
        where, how = kinds[:2], kinds[2:]
        asked = (where[0], "topic", where[1], "User:alice", "*", *how)
        dialogue.ask(f"a rule of {kinds}", CreateAclsRequest([AclCreation(*asked)]))
        dialogue.ask(f"two rules of {kinds}", CreateAclsRequest([rule, AclCreation(*asked)]))
        dialogue.ask(f"show {kinds}", DescribeAclsRequest(*asked))
        dialogue.ask(f"delete {kinds}", DeleteAclsRequest([DeleteAclsFilter(*asked)]))


@scenario
def without_delegation_tokens(dialogue: Dialogue) -> None:
    dialogue.ask("create", CreateDelegationTokenRequest(None, None, max_lifetime_ms=-1))
    dialogue.ask("create for another", CreateDelegationTokenRequest("User", "alice", max_lifetime_ms=1000), 3)
    for kind, owner in (("", "alice"), ("Group", "alice"), ("Group", ""), ("Group", None)):
        request = CreateDelegationTokenRequest(kind, owner, max_lifetime_ms=1000)
        dialogue.ask(f"create for {(kind, owner)}", request, 3)
    dialogue.ask("renew", RenewDelegationTokenRequest(b"hmac", 1000))
    dialogue.ask("expire", ExpireDelegationTokenRequest(b"hmac", -1))
    dialogue.ask("show", DescribeDelegationTokenRequest(None))
    dialogue.ask("show none", DescribeDelegationTokenRequest())


@scenario
def without_passwords(dialogue: Dialogue) -> None:
    dialogue.ask("everybody", DescribeUserScramCredentialsRequest(None))
    dialogue.ask("nobody", DescribeUserScramCredentialsRequest())
    dialogue.ask("one", DescribeUserScramCredentialsRequest([UserName("alice")]))
    dialogue.ask("one twice", DescribeUserScramCredentialsRequest([UserName("alice"), UserName("alice")]))


@scenario
def without_quotas(dialogue: Dialogue) -> None:
    def ask(label: str, *components: ComponentData, strict: bool = False) -> None:
        dialogue.ask(label, DescribeClientQuotasRequest(components, strict))

    ask("all")
    ask("all, strictly", strict=True)
    ask("a user", ComponentData("user", 0, "alice"))
    ask("the default user", ComponentData("user", 1, None))
    ask("any client of any user", ComponentData("user", 2, None), ComponentData("client-id", 2, None))
    ask("an address", ComponentData("ip", 0, "127.0.0.1"))
    ask("an address and a user", ComponentData("ip", 2, None), ComponentData("user", 2, None))
    ask("a user twice", ComponentData("user", 2, None), ComponentData("user", 2, None))
    ask("no type", ComponentData("", 2, None))
    ask("unknown type", ComponentData("planet", 2, None))
    ask("unknown match", ComponentData("user", 3, None))
    ask("exactly nothing", ComponentData("user", 0, None))
    ask("a default with a name", ComponentData("user", 1, "alice"))
    ask("any with a name", ComponentData("user", 2, "alice"))
