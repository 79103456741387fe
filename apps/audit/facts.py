"""THE table of what is written once: the columns of each record of money or of a promise that
nothing ever changes, and the tables of which no row is ever deleted.

A run keeps with its point how many rows there were and a hash over these columns; a later run finds
whatever was changed or deleted since, whichever row it was. The other columns of these tables are
in `MOVING`, with what compares them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

# What compares a column that changes.
HISTORY = "its history has a line for each change"
BOOKS = "the ledger has a movement for each change"
CHAIN = "the chain's transaction or block says it"
SUMS = "it is a sum that is added up again"
OWNERS = "whoever owns it changes it, and the audit log has a line"
PACE = "it says when something is due or was done, and moves nothing"
WORDS = "it is read by people or by their programs, and moves nothing"


@dataclass(frozen=True)
class Facts:
    """`columns` are never changed, beside the key. Rows that are `is_pruned` go after
    WEBHOOK_KEPT_DAYS; where it `grows`, rows may be added with older keys. `settled_numbers` is
    how many numbers one transaction may take, where it is many."""

    table: str
    columns: str
    moving: Mapping[str, str] = field(default_factory=dict)
    key: str = "id"
    key_type: str = "uuid"
    is_pruned: bool = False
    grows: bool = False
    settled_numbers: int = 0

    @property
    def names(self) -> Sequence[str]:
        return tuple(self.columns.split())


def _moving(**reasons: str) -> dict[str, str]:
    """Columns by reason: `HISTORY="status state_reason"`."""
    return {
        column: globals()[reason]
        for reason, columns in reasons.items()
        for column in columns.split()
    }


def _numbered(table: str, columns: str, moving: Mapping[str, str] | None = None) -> Facts:
    """Of a table whose keys are numbers."""
    return Facts(table, columns, moving or {}, key_type="bigint")


# Of people, stores and what they may do: their rows stay, and most columns are their owners'.
_OF_OWNERS = (
    Facts(
        "access_agentcredential",
        "store_id mode created_at principal application_id",
        _moving(
            OWNERS="name secret_hash token_prefix last_four scopes expires_at revoked_at user_id"
            " sends_anywhere_from",
            PACE="last_used_at",
        ),
    ),
    Facts(
        "access_apikey",
        "store_id mode created_at key_type",
        _moving(
            OWNERS="name secret_hash prefix last_four scopes revoked_at user_id"
            " sends_anywhere_from",
            PACE="last_used_at",
        ),
    ),
    Facts(
        "access_application",
        "created store_id",
        _moving(
            OWNERS="client_id redirect_uris post_logout_redirect_uris client_type"
            " authorization_grant_type client_secret hash_client_secret name skip_authorization"
            " updated algorithm allowed_origins registration_source cimd_expires_at website_url"
            " logo_url scopes is_active user_id"
        ),
    ),
    Facts(
        "billing_customer",
        "store_id mode created_at form_key",
        _moving(
            OWNERS="email name phone address metadata deleted_at updated_at language email_key"
        ),
    ),
    Facts(
        "billing_product",
        "store_id mode created_at form_key",
        _moving(OWNERS="name description active metadata updated_at"),
    ),
    Facts("links_till", "store_id", _moving(OWNERS="currency tip_bps updated_at"), grows=True),
    Facts(
        "onramp_credential",
        "store_id mode created_at provider",
        _moving(OWNERS="sealed_api_key sealed_webhook_secret api_key_hint is_active"),
    ),
    _numbered("payouts_offrampcallback", "provider event_id received_at"),
    Facts(
        "payouts_approvalrule",
        "store_id mode created_at",
        _moving(OWNERS="currency above_cents next_above_cents next_from changed_at"),
    ),
    _numbered(
        "payouts_storepayoutcap", "store_id asset_id", _moving(OWNERS="per_tx_atomic daily_atomic")
    ),
    Facts(
        "platforms_accessrequest",
        "store_id created_at",
        _moving(OWNERS="status reason rejection_reason reviewed_at"),
    ),
    Facts(
        "stores_store",
        "created_at",
        _moving(
            OWNERS="name country deleted_at settlement_currency accept_overpayments"
            " accept_underpayments underpayment_tolerance_bps overpayment_tolerance_bps"
            " customer_pays_fee fee_fraction platform_fee_fraction external_id is_platform"
            " kyc_confirmed_at support_email brand_name logo_url logo_name primary_color"
            " secondary_color remove_service_branding checkout_domain checkout_domain_verified_at"
            " checkout_domain_checked_at checkout_domain_problem card_funding_live"
            " card_funding_test city embed_origins postal_code street website offers_new_quotes"
            " customer_language platform_id publishable_key_amounts platform_fee_before_fraction"
            " platform_fee_from platform_fee_ceiling_fraction",
            PACE="test_offset_seconds test_clock_target_seconds",
        ),
    ),
    Facts(
        "stores_user",
        "",
        _moving(
            OWNERS="password is_superuser email name is_active is_staff session_version email_key"
            " staff_roles",
            PACE="last_login",
            WORDS="language time_zone region",
        ),
    ),
    Facts(
        "stores_verification",
        "store_id created_at",
        _moving(
            OWNERS="status business_legal_name business_country registration_number tax_id"
            " business_website contact_email contact_phone business_description rejection_reason"
            " submitted_at reviewed_at updated_at city legal_form postal_code representative"
            " street"
        ),
    ),
    Facts("swaps_autoswap", "store_id mode created_at", _moving(OWNERS="since target_asset_id")),
    Facts(
        "webhooks_endpoint",
        "store_id mode created_at",
        _moving(
            OWNERS="url host description status subscribed_events sealed_secret secret_preview"
            " platform platform_store_url metadata api_version updated_at deleted_at"
            " is_secret_of_platform",
            PACE="verified_at disabled_at is_notice_due",
        ),
    ),
)

FACTS = (
    *_OF_OWNERS,
    Facts(
        "agents_mandate",
        "store_id mode created_at credential_id asset_id mandate_ref scope total_cap_atomic"
        " per_call_cap_atomic authorization_provider expires_at",
        _moving(HISTORY="status revoked_at updated_at", SUMS="spent_atomic"),
    ),
    _numbered("agents_mandatestep", "from_status to_status at mandate_id"),
    Facts(
        "agents_paymentoffer",
        "mode created_at store_id payment_id asset_id pay_to_id amount_atomic resource description"
        " mime_type timeout_seconds",
    ),
    Facts(
        "agents_settlement",
        "store_id mode created_at mandate_id credential_id asset_id amount_atomic nonce pay_to"
        " payer"
        " requirements is_dispatched idempotency_key",
        _moving(HISTORY="status failure_reason updated_at", CHAIN="tx_ref"),
    ),
    _numbered("agents_settlementstep", "from_status to_status at note settlement_id"),
    Facts(
        "agents_signedpayment",
        "store_id mode created_at offer_id chain_id contract_address payer nonce amount_atomic"
        " valid_after valid_before signature",
        _moving(
            HISTORY="status failure_reason updated_at",
            CHAIN="tx_hash is_elsewhere",
            PACE="answered_at",
        ),
    ),
    _numbered("agents_signedpaymentstep", "from_status to_status at note signed_id"),
    _numbered(
        "billing_invoicepayment",
        "invoice_id payment_id created_at",
        _moving(
            SUMS="counted_cents late_cents refunded_cents",
            PACE="counted_at late_seen_at refund_seen_at",
        ),
    ),
    Facts(
        "billing_price",
        "mode created_at form_key store_id product_id unit_amount_cents currency interval"
        " interval_count",
        _moving(OWNERS="active metadata updated_at"),
    ),
    _numbered(
        "billing_subscriptionchange", "subscription_id change from_status to_status created_at"
    ),
    Facts(
        "billing_subscription",
        "store_id mode created_at form_key customer_id started_at",
        _moving(
            HISTORY="status price_id quantity trial_end cancel_at_period_end cancel_at canceled_at"
            " paused_at failed_cycle_count grace_cycles updated_at anchor_day",
            SUMS="current_period_start current_period_end next_billing_at",
            PACE="next_step_at",
            OWNERS="metadata",
        ),
    ),
    Facts(
        "chain_deposit",
        "chain_id asset_id address_id from_address is_simulated simulated_reference detected_at"
        " required_confirmations",
        _moving(
            BOOKS="amount_atomic status handled_status is_lost left_atomic",
            CHAIN="tx_hash log_index block_number block_hash mined_at",
            PACE="confirmed_at failed_at is_unswept simulated_confirmations",
        ),
    ),
    Facts(
        "chain_outgoingtransaction",
        "mode store_id chain_id asset_id purpose reference to_address amount_atomic call_data"
        " receives_asset_id",
        _moving(
            BOOKS="handled_status handled_fee_atomic handled_received_atomic",
            CHAIN="received_atomic status from_address nonce tx_hash block_number block_hash"
            " network_fee_atomic undone_count gas_limit goes_back approval",
            PACE="unknown_since reason reason_code waits_for not_before requested_at signed_at"
            " submitted_at finished_at",
        ),
    ),
    _numbered("chain_payer", "chain_id address tx_hash", _moving(CHAIN="kind checked_at")),
    _numbered(
        "chain_signedtransaction",
        "outgoing_id tx_hash raw max_fee_wei priority_fee_wei signed_at",
        _moving(PACE="broadcast_at"),
    ),
    _numbered(
        "chain_undonetransaction",
        "outgoing_id status tx_hash block_number block_hash network_fee_atomic found_at",
    ),
    _numbered(
        "chain_sendinghold",
        "chain_id asset_id reason placed_by_id placed_at",
        _moving(OWNERS="lifted_at lift_reason"),
    ),
    _numbered(
        "chain_unmatchedtransfer",
        "chain_id asset_id contract_address address_id tx_hash log_index from_address amount_atomic"
        " detected_at",
        _moving(
            BOOKS="resolved_at outcome outcome_reason",
            CHAIN="block_number",
            OWNERS="store_id reason",
        ),
    ),
    _numbered(
        "chain_unknowntransaction",
        "chain_id from_address nonce tx_hash to_address value_atomic data found_at",
        _moving(OWNERS="settled_at"),
    ),
    _numbered(
        "ledger_account",
        "store_id mode asset_id kind is_guarded",
        _moving(SUMS="checkpoint_atomic checkpoint_id observed_id observed_xid"),
    ),
    _numbered(
        "links_linkpayment",
        "link_id payment_id created_at",
        _moving(WORDS="customer_email customer_name", HISTORY="released_at"),
    ),
    Facts(
        "links_paymentlink",
        "store_id mode created_at form_key token currency",
        _moving(
            OWNERS="title description amount_cents min_cents max_cents suggested_cents stock"
            " ends_at"
            " success_url email name paused_at archived_at updated_at"
        ),
    ),
    _numbered("onramp_sessionchange", "session_id from_status to_status source created_at"),
    Facts(
        "payments_heldrefund",
        "store_id mode created_at payment_id asset_id payer_address reason",
        _moving(
            BOOKS="amount_atomic status destination_address proof",
            PACE="why updated_at",
        ),
    ),
    _numbered(
        "payments_latedeposit",
        "payment_id deposit_id store_id mode created_at",
        _moving(BOOKS="accepted_at is_counted is_late"),
    ),
    Facts(
        "payments_payment",
        "store_id mode created_at reference settlement_amount_cents settlement_currency"
        " customer_pays_fee fee_fraction platform_id platform_fee_fraction agent_credential_id"
        " success_url failed_url title description image_url line_items idempotency_caller"
        " idempotency_key created_with",
        _moving(
            HISTORY="status state_reason settlement_status refund_state completed_at updated_at",
            SUMS="reconciliation_status reconciled_at reconciliation_due auto_swap_status",
            PACE="expires_at first_expires_at held_open_until held_open_assets needs_attention"
            " is_card_funded card_shortfall_bps",
            OWNERS="metadata order_id",
        ),
    ),
    Facts(
        "payments_paymentaddress",
        "payment_id asset_id address_id position required_atomic base_atomic fee_atomic"
        " exchange_rate rate_source required_confirmations created_at",
    ),
    Facts(
        "payments_refund",
        "store_id mode created_at payment_id asset_id reason destination_address amount_atomic"
        " is_from_held is_simulated idempotency_caller idempotency_key part",
        _moving(
            BOOKS="status held_id",
            CHAIN="tx_hash",
            PACE="attempts failure_reason submitted_at submitted_real_at updated_at",
        ),
    ),
    Facts("payments_refundaddress", "store_id mode created_at payment_id address"),
    Facts(
        "payments_refundlink",
        "store_id mode created_at payment_id token_digest expires_at",
        _moving(PACE="used_at"),
    ),
    _numbered("payments_renewal", "earlier_id later_id created_at"),
    Facts(
        "payments_testpayment",
        "store_id mode created_at payment_id amount_atomic",
        _moving(PACE="is_requested"),
    ),
    Facts(
        "payments_transferreturn",
        "mode created_at store_id transfer_id payment_id asset_id destination_address amount_atomic"
        " is_simulated",
        _moving(
            BOOKS="status",
            CHAIN="tx_hash is_elsewhere",
            PACE="failure_reason submitted_at submitted_real_at updated_at",
        ),
    ),
    Facts(
        "payments_withdrawal",
        "reference mode asset_id amount_atomic to_address reason requested_by_id requested_at",
        _moving(
            BOOKS="status decided_by_id decided_at",
            CHAIN="tx_hash",
            PACE="is_requested failure_reason finished_at",
        ),
    ),
    Facts(
        "payouts_destination",
        "store_id mode created_at kind network address currency holder account_hint",
        _moving(
            OWNERS="label verified_at rejected_at rejection_reason removed_at account_sealed"
            " cools_until usable_from"
        ),
    ),
    Facts(
        "payouts_payout",
        "store_id mode created_at rail schedule_id asset_id amount_atomic destination_id"
        " destination_address bears_network_fee fiat_currency agent_credential_id maker_id"
        " worth_cents idempotency_caller idempotency_key",
        _moving(
            HISTORY="status attempts retries retry_at failure_code failure_reason"
            " review_reason updated_at approval_id",
            BOOKS="funds withheld_atomic network_fee_atomic failed_gas_atomic"
            " failed_gas_due_atomic is_simulated",
            CHAIN="tx_hash",
            PACE="pending_reason is_outcome_unknown submitted_at submitted_real_at asked_at",
            WORDS="provider provider_tx_id paid_fiat_amount_cents paid_fee_cents paid_fx_rate"
            " paid_external_reference paid_at",
        ),
    ),
    Facts(
        "payouts_payoutapproval",
        "store_id mode created_at maker_id made_by currency worth_cents above_cents expires_at",
        _moving(OWNERS="status decided_by_id decided_at reason"),
    ),
    Facts(
        "payouts_payoutbatch",
        "store_id mode created_at filename digest uploaded_by_id form_key",
        _moving(OWNERS="status released_by_id released_at usable_from approval_id"),
    ),
    Facts(
        "payouts_payoutbatchline",
        "batch_id number asset_id amount_atomic destination_id address written label",
        _moving(HISTORY="status problem payout_id", WORDS="lookalike twin_number"),
        key_type="bigint",
        settled_numbers=30_000,  # three files of the largest size, read at the same time
    ),
    Facts(
        "payouts_schedule",
        "mode created_at store_id asset_id",
        _moving(
            OWNERS="frequency destination_id destination_address swap_target_asset_id"
            " minimum_fiat_cents minimum_fiat_currency anchor_day is_active usable_from"
            " maker_id deleted_at updated_at",
            PACE="next_payout_at last_payout_at last_skip_reason last_failure",
        ),
    ),
    _numbered(
        "payouts_schedulerun",
        "schedule_id due_at at",
        _moving(HISTORY="skip_reason failure amount_atomic is_swapping swap_id"),
    ),
    Facts(
        "stores_staffrequest",
        "kind target_id name content digest reason asked_by_id asked_at expires_at",
        _moving(OWNERS="state decided_by_id decided_at decision_reason sealed"),
    ),
    Facts(
        "swaps_swap",
        "store_id mode created_at source_asset_id buy_asset_id sell_amount_atomic"
        " expected_buy_amount_atomic min_buy_amount_atomic slippage_bps provider payment_id"
        " idempotency_caller idempotency_key",
        _moving(
            HISTORY="status failure_reason updated_at completed_at",
            BOOKS="actual_buy_amount_atomic",
            CHAIN="tx_hash",
        ),
    ),
    Facts("webhooks_event", "store_id mode created_at type object account_id", is_pruned=True),
    Facts(
        "webhooks_delivery",
        "mode created_at store_id event_id endpoint_id is_test",
        _moving(
            HISTORY="status attempts next_attempt_at claimed_until response_status"
            " response_body error duration_ms delivered_at"
        ),
        is_pruned=True,
        grows=True,  # a delivery's key begins as its event's does, also when it is sent again
    ),
)

_SEALED = "it has a seal, or is a posting or a line of history, which invariants compare"
_DERIVED = "it is added up again from what it counts"
_SIGN_IN = "it is about signing in, moves nothing by itself, and ends"
_CONFIGURED = "whoever owns it changes it, and the audit log has a line"
_WORK = "it is work that is under way, and is found again"
_DRAFT = "it is changed and deleted as a draft; numbers, totals and what was counted are compared"
_DJANGO = "Django's own"
# Every other table, and why no run keeps what its rows say.
ELSEWHERE = {
    table: why
    for why, tables in {
        _SEALED: "audit_verifiedpoint ledger_entry ledger_movement payments_paymentevent"
        " payments_paymentseal payouts_payouttransition stores_auditentry stores_auditseal"
        " swaps_swapstep",
        _DERIVED: "ledger_balancemark payments_dailysum payments_dailysumplace payments_hourlysum"
        " payments_paymentchange payments_paymentnet payments_paymentreference payments_platformsum"
        " payments_reconciliationtask payments_soldspan payments_soldsum reports_hourlybooking"
        " reports_hourlybookingplace stores_countedmerchant stores_merchantcount"
        " webhooks_queueddelivery chain_address chain_block chain_head chain_hotwallet"
        " billing_invoicecounter",
        _SIGN_IN: "access_accesstoken access_devicegrant access_grant access_idtoken"
        " access_knownbrowser access_refreshtoken"
        " access_requestentry access_secondfactor access_signin django_session"
        " django_otp_webauthn_webauthnattestation django_otp_webauthn_webauthncredential"
        " django_otp_webauthn_webauthnuserhandle stores_invitation platforms_onboardinglink"
        " platforms_destinationconfirmation",
        _CONFIGURED: "access_coolingsettings agents_agentpayoutcap agents_agentsettings"
        " assets_acceptedasset assets_asset assets_chain billing_invoicesettings"
        " payouts_payoutsettings reports_accountcodes stores_member"
        " stores_notificationchoice stores_verificationdocument",
        _WORK: "chain_obstacle chain_gasleft assets_dailyrate assets_rate chain_addresslook"
        " chain_addresstolook chain_blocktoread chain_balancecheck chain_unexplainedbalance"
        " core_drawing core_heartbeat"
        " core_lease core_outgoingmail core_rowfailure core_rowturn onramp_callback"
        " onramp_fundingsession payments_paymentemail reports_report"
        " stores_notification stores_testletter webhooks_attempt webhooks_host",
        _DRAFT: "billing_invoice billing_invoicechange billing_invoiceline"
        " billing_subscriptionitem",
        _DJANGO: "auth_group auth_group_permissions auth_permission django_admin_log"
        " django_content_type stores_user_groups stores_user_user_permissions",
    }.items()
    for table in tables.split()
}
