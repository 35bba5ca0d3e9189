"""Answers that are no good, and other odd situations: what happens, and the tests that show it, as in ``matrix``."""

from __future__ import annotations

from matrix import EQUAL, NONE, REPLAY, Cell, Table, bad_row, cases, cell

_TOO_MUCH = "test_what_is_too_much_is_an_error_that_names_the_step"
_NOT_AGAIN = "test_what_is_too_much_faults_the_run_and_the_sdk_does_not_ask_again"


def too_much(test: str, large: str = "large", endless: str = "endless", bomb: str = "bomb") -> list[Cell]:
    return [cell("fault", f"{test}[{name}]") for name in (large, endless, bomb)]


def httpx_like(of_class: str) -> dict[str, Cell]:
    sync = f"{of_class}::{EQUAL}"
    return bad_row(
        *too_much(f"{of_class}::test_an_answer_that_is_too_much_faults_the_run_and_is_not_asked_for_again"),
        cell("its error", *cases(sync, "cut", "cut_in_a_stream"), f"{sync}_to_coroutines[cut_in_a_stream_async]"),
        cell("its error, or cut", *cases(sync, "cut", "says_less_than_it_sends")),
    )


_REQUESTS = f"test_capture_requests.py::{REPLAY}"
_OVER = "test_capture_requests.py::test_an_answer_over_the_limit_faults_the_run_with_the_way_out"
_MAIL = "test_cells_mail.py::test_a_server_that_is_no_good_is_the_same_error_on_a_replay"
_LLM = f"test_cells_llm.py::{EQUAL}"
_STRIPE = "test_cells_stripe.py::test_an_answer_that_breaks_off_is_the_same_error_on_a_replay"
_BOTO3 = f"test_cells_boto3.py::{REPLAY}"

BAD: Table = {
    "httpx": httpx_like("test_capture_httpx.py::TestHttpx"),
    "httpx2": httpx_like("test_capture_httpx2.py::TestHttpx2"),
    "requests": bad_row(
        cell("fault", f"{_OVER}[big]"),
        cell("fault", *cases(_OVER, "endless", "endless_chunks")),
        cell("fault", "test_capture_requests.py::test_an_answer_that_unpacks_to_too_much_faults_the_run"),
        cell("its error", *cases(_REQUESTS, "broken", "broken_in_a_stream")),
        cell("its error, or cut", f"{_REQUESTS}[broken]", f"test_cells_urllib3.py::{REPLAY}[longer]"),
    ),
    "urllib3": bad_row(
        *too_much(f"test_cells_urllib3.py::{_TOO_MUCH}"),
        cell("its error", f"test_cells_urllib3.py::{REPLAY}[broken_off]"),
        cell("its error, or cut", *cases(f"test_cells_urllib3.py::{REPLAY}", "broken_off", "longer")),
    ),
    "urllib.request, http.client": bad_row(
        *too_much(f"test_capture_urllib.py::{_TOO_MUCH}"),
        cell("its error", *cases(f"test_capture_urllib.py::{REPLAY}", "broken_off", "broken_off_in_pieces")),
        cell(
            "its error, or cut",
            f"test_capture_urllib.py::{REPLAY}[broken_off]",
            f"test_cells_urllib.py::{REPLAY}[longer]",
        ),
    ),
    "aiohttp": bad_row(
        *too_much(f"test_capture_aiohttp.py::{_TOO_MUCH}"),
        cell("its error ⁵", f"test_capture_aiohttp.py::{REPLAY}[broken_off]"),
        cell(
            "its error",
            f"test_capture_aiohttp.py::{REPLAY}[broken_off]",
            f"test_cells_aiohttp.py::{REPLAY}[longer]",
        ),
    ),
    "smtplib, aiosmtplib": bad_row(
        NONE,
        cell("its error ⁹", f"{_MAIL}[never ends its line]"),
        NONE,
        cell("its error", f"{_MAIL}[closes half-way]"),
        NONE,
    ),
    "OpenAI, Anthropic": bad_row(
        *too_much(f"test_cells_llm.py::{_NOT_AGAIN}"),
        cell("its error", *cases(_LLM, "gpt_half", "claude_half", "claude_cut_in_a_stream")),
        cell("its error, or cut", *cases(_LLM, "gpt_half", "claude_half", "gpt_longer", "claude_longer")),
    ),
    "Stripe": bad_row(
        *too_much(f"test_cells_stripe.py::{_NOT_AGAIN}"),
        cell("its error", _STRIPE),
        cell("its error, or cut", _STRIPE),
    ),
    "boto3, botocore: S3, SQS, DynamoDB": bad_row(
        *too_much("test_cells_boto3.py::test_what_is_too_much_faults_the_run_and_botocore_does_not_ask_again"),
        cell("its error", *cases(_BOTO3, "objects_broken_off", "messages_broken_off")),
        cell("its error, or cut", *cases(_BOTO3, "objects_broken_off", "an_object_longer_than_it_says")),
    ),
}

_TIMEOUTS = "test_cells_timeouts.py"

#: What else may be odd.
SITUATIONS: dict[str, Cell] = {
    "the record is of an older version of the SDK": cell(
        "it is read: records are HTTP, not objects",
        "test_versions_and_sharing.py::test_what_one_version_of_an_sdk_recorded_the_next_one_reads",
    ),
    "the SDK has moved to another HTTP library since": cell(
        "it is read, failures too",
        "test_capture_openai.py::test_a_record_made_over_httpx_is_read_back_by_an_sdk_that_has_moved_to_httpx2",
    ),
    "a client is shared by a body and a request handler": cell(
        "the body's calls are recorded, the handler's are not",
        "test_versions_and_sharing.py::test_a_request_handler_that_shares_the_client_is_not_recorded",
    ),
    "credentials are refreshed during a call": cell(
        "the refresh is no part of the call, and its answer is not stored",
        f"test_capture_boto3.py::{REPLAY}[put_and_get]",
        "test_capture_boto3.py::test_no_credential_is_stored",
    ),
    "the program fetches a token by a call of its own": cell(
        "that call is a step like any other", f"test_capture_openai.py::{EQUAL}[azure]"
    ),
    "the SDK sends telemetry along": cell(
        "it changes nothing",
        "test_capture_stripe.py::test_telemetry_goes_along_in_headers_and_changes_nothing",
    ),
    "`asyncio.wait_for` round a call, in time": cell(
        "equal",
        *cases(f"{_TIMEOUTS}::test_a_call_that_is_waited_for_in_time_gives_its_record", "by_httpx", "by_aiohttp"),
        f"{_TIMEOUTS}::test_a_call_that_is_waited_for_in_time_gives_its_record[by_openai]",
    ),
    "`asyncio.wait_for` round a call, too late": cell(
        "the body sees the `TimeoutError` again; the exchange goes on by itself",
        *cases(
            f"{_TIMEOUTS}::test_a_call_that_the_body_gave_up_is_given_up_again", "httpx_given_up", "openai_given_up"
        ),
        f"{_TIMEOUTS}::test_a_call_that_the_body_gave_up_is_given_up_again[aiohttp_given_up]",
    ),
    "a websocket is opened": cell(
        "refused before it is",
        "test_capture_httpx.py::TestHttpx::test_a_websocket_is_refused_before_it_is_opened",
        "test_capture_aiohttp.py::test_a_websocket_is_refused",
        "test_capture_urllib.py::test_what_cannot_be_recorded_is_refused",
    ),
    "TLS, proxies and tunnels": cell(
        "on a replay no connection is made",
        "test_capture_requests.py::test_no_tls_connection_and_no_tunnel_is_made_on_a_replay",
        "test_capture_requests.py::test_a_proxy_is_not_asked_on_a_replay",
        "test_capture_urllib.py::test_a_replay_shows_what_was_said_over_tls",
        "test_capture_aiohttp.py::test_a_replay_shows_what_was_said_over_tls",
        "test_capture_smtplib.py::test_encrypted_connections",
        "test_capture_aiosmtplib.py::test_encrypted_connections",
    ),
}

#: By file of ``capture/``: the calls of ``removed_program`` that need it.
FILES: dict[str, frozenset[str]] = {
    "httpx": frozenset({"httpx"}),
    "httpx2": frozenset({"httpx2", "openai", "anthropic"}),
    "urllib3": frozenset({"urllib3", "requests", "stripe", "boto3", "botocore"}),
    "botocore": frozenset({"botocore"}),
    "http_client": frozenset({"urllib"}),
    "aiohttp": frozenset({"aiohttp"}),
    "smtplib": frozenset({"smtplib"}),
    "aiosmtplib": frozenset({"aiosmtplib"}),
}
