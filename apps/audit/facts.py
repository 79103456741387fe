"""THE table of what is written once: the columns of each record of money or of a promise that
nothing ever changes, and the tables of which no row is ever deleted.

A run keeps with its point how many rows there were and a hash over these columns; a later run finds
whatever was changed or deleted since, whichever row it was. The other columns of these tables are
in `MOVING`, with what compares them.
"""

from apps.audit.fact_tables import Facts, moving, numbered
from apps.audit.facts_of_owners import OF_OWNERS

FACTS = (
    *OF_OWNERS,
    Facts(
        "agents_mandate",
        "store_id mode created_at credential_id asset_id mandate_ref scope total_cap_atomic"
        " per_call_cap_atomic authorization_provider expires_at",
        moving(HISTORY="status revoked_at updated_at", SUMS="spent_atomic"),
    ),
    numbered("agents_mandatestep", "from_status to_status at mandate_id"),
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
        moving(HISTORY="status failure_reason updated_at", CHAIN="tx_ref"),
    ),
    numbered("agents_settlementstep", "from_status to_status at note settlement_id"),
    Facts(
        "agents_signedpayment",
        "store_id mode created_at offer_id chain_id contract_address payer nonce amount_atomic"
        " valid_after valid_before signature is_of_checkout",
        moving(
            HISTORY="status failure_reason updated_at",
            CHAIN="tx_hash is_elsewhere",
            PACE="answered_at",
        ),
    ),
    numbered("agents_signedpaymentstep", "from_status to_status at note signed_id"),
    numbered(
        "billing_invoicepayment",
        "invoice_id payment_id created_at",
        moving(
            SUMS="counted_cents late_cents refunded_cents",
            PACE="counted_at late_seen_at refund_seen_at",
        ),
    ),
    Facts(
        "billing_price",
        "mode created_at form_key store_id product_id unit_amount_cents currency interval"
        " interval_count tax_rate_id",
        moving(OWNERS="active metadata updated_at"),
    ),
    Facts(
        "billing_taxrate",
        "store_id mode created_at form_key category rate_bps inclusive reason reason_code",
        moving(OWNERS="name active updated_at"),
    ),
    Facts(
        "billing_vatcheck",
        "store_id mode created_at customer_id number requester_number result name address"
        " consultation_number answer error",
    ),
    Facts(
        "billing_einvoicedelivery",
        "store_id mode created_at invoice_id credit_note_id network sender receiver country"
        " content",
        moving(
            WORDS="status error ended_at trace number receipt",
            PACE="attempts next_attempt_at updated_at",
        ),
    ),
    Facts(
        "billing_creditnote",
        "store_id mode created_at form_key invoice_id number series series_number reason"
        " refunded_cents memo currency net_cents tax_cents total_cents issued_on",
    ),
    Facts(
        "billing_customercreditline",
        "store_id mode created_at customer_id invoice_id currency kind amount_cents",
    ),
    Facts(
        "billing_creditnoteline",
        "credit_note_id position category rate_bps reason reason_code net_cents tax_cents",
    ),
    numbered(
        "billing_subscriptionchange", "subscription_id change from_status to_status created_at"
    ),
    Facts(
        "billing_subscription",
        "store_id mode created_at form_key customer_id started_at time_zone",
        moving(
            HISTORY="status price_id quantity trial_end cancel_at_period_end cancel_at canceled_at"
            " paused_at failed_cycle_count grace_cycles updated_at anchor_day",
            SUMS="current_period_start current_period_end next_billing_at",
            PACE="next_step_at",
            OWNERS="metadata tax_rate_id discount_type discount_value",
        ),
    ),
    Facts(
        "chain_deposit",
        "chain_id asset_id address_id from_address is_simulated simulated_reference detected_at"
        " required_confirmations",
        moving(
            BOOKS="amount_atomic status handled_status is_lost left_atomic",
            CHAIN="tx_hash log_index block_number block_hash mined_at",
            PACE="confirmed_at failed_at is_unswept simulated_confirmations",
        ),
    ),
    Facts(
        "chain_outgoingtransaction",
        "mode store_id chain_id asset_id purpose reference to_address amount_atomic call_data"
        " receives_asset_id",
        moving(
            BOOKS="handled_status handled_fee_atomic handled_received_atomic",
            CHAIN="received_atomic status from_address nonce spend_id batch_id tx_hash"
            " block_number block_hash network_fee_atomic undone_count gas_limit goes_back approval",
            PACE="unknown_since reason reason_code waits_for not_before requested_at signed_at"
            " submitted_at finished_at",
        ),
    ),
    Facts(
        "chain_ownwallet",
        "store_id mode created_at number family chain_id kind content fingerprint",
        moving(PACE="next_index"),
    ),
    Facts(
        "chain_walletchoice",
        "store_id mode created_at asset_id wallet_id asked_by_id",
        moving(OWNERS="stopped_at", PACE="told_at active_from waits_for"),
    ),
    numbered("chain_payer", "chain_id address tx_hash", moving(CHAIN="kind checked_at")),
    numbered(
        "chain_signedtransaction",
        "outgoing_id tx_hash raw max_fee_wei priority_fee_wei signed_at",
        moving(PACE="broadcast_at refused_count refusal"),
    ),
    numbered(
        "chain_spend",
        "chain_id wallet_address first_tx_hash first_output created_at",
        moving(CHAIN="ended_at mined_as"),
    ),
    numbered(
        "chain_spendcandidate",
        "spend_id tx_hash raw plan fee_atomic signed_at",
        moving(PACE="broadcast_at"),
    ),
    numbered(
        "chain_undonetransaction",
        "outgoing_id status tx_hash block_number block_hash network_fee_atomic found_at",
    ),
    numbered(
        "chain_sendinghold",
        "chain_id asset_id reason placed_by_id placed_at",
        moving(OWNERS="lifted_at lift_reason"),
    ),
    numbered(
        "chain_unmatchedtransfer",
        "chain_id asset_id contract_address address_id tx_hash log_index from_address amount_atomic"
        " detected_at",
        moving(
            BOOKS="resolved_at outcome outcome_reason",
            CHAIN="block_number",
            OWNERS="store_id reason",
        ),
    ),
    numbered(
        "chain_unknowntransaction",
        "chain_id from_address nonce tx_hash to_address value_atomic data found_at",
        moving(OWNERS="settled_at"),
    ),
    numbered(
        "ledger_account",
        "store_id mode asset_id kind is_guarded",
        moving(SUMS="checkpoint_atomic checkpoint_id observed_id observed_xid"),
    ),
    numbered(
        "links_linkpayment",
        "link_id payment_id created_at",
        moving(WORDS="customer_email customer_name", HISTORY="released_at"),
    ),
    Facts(
        "links_paymentlink",
        "store_id mode created_at form_key token currency",
        moving(
            OWNERS="title description amount_cents min_cents max_cents suggested_cents stock"
            " ends_at"
            " success_url email name paused_at archived_at updated_at"
        ),
    ),
    Facts(
        "links_sale",
        "store_id mode created_at form_key token till_name currency lines amount_cents note"
        " offered_bps",
        moving(HISTORY="tip_cents payment_id canceled_at"),
    ),
    numbered("onramp_sessionchange", "session_id from_status to_status source created_at"),
    Facts(
        "payments_heldrefund",
        "store_id mode created_at payment_id asset_id payer_address reason",
        moving(
            BOOKS="amount_atomic status destination_address proof",
            PACE="why updated_at",
        ),
    ),
    numbered(
        "payments_latedeposit",
        "payment_id deposit_id store_id mode created_at",
        moving(BOOKS="accepted_at is_counted is_late"),
    ),
    Facts(
        "payments_payment",
        "store_id mode created_at reference settlement_amount_cents settlement_currency"
        " customer_pays_fee fee_fraction platform_id platform_fee_fraction agent_credential_id"
        " success_url failed_url title description image_url line_items idempotency_caller"
        " idempotency_key created_with",
        moving(
            HISTORY="status state_reason settlement_status refund_state completed_at updated_at",
            SUMS="reconciliation_status reconciled_at reconciliation_due auto_swap_status",
            PACE="expires_at first_expires_at held_open_until held_open_assets needs_attention"
            " is_card_funded card_shortfall_bps",
            OWNERS="metadata order_id",
        ),
    ),
    Facts(
        "payments_paymentaddress",
        "payment_id asset_id address_id own_wallet_id position required_atomic base_atomic"
        " fee_atomic exchange_rate rate_source required_confirmations created_at",
        moving(SIGNED="surcharge_atomic"),
    ),
    Facts(
        "payments_refund",
        "store_id mode created_at payment_id asset_id reason destination_address amount_atomic"
        " is_from_held is_simulated idempotency_caller idempotency_key part",
        moving(
            BOOKS="status held_id",
            CHAIN="tx_hash",
            PACE="attempts failure_reason submitted_at submitted_real_at updated_at",
        ),
    ),
    Facts("payments_refundaddress", "store_id mode created_at payment_id address"),
    Facts(
        "payments_refundlink",
        "store_id mode created_at payment_id token_digest expires_at",
        moving(PACE="used_at"),
    ),
    numbered("payments_renewal", "earlier_id later_id created_at"),
    Facts(
        "payments_testpayment",
        "store_id mode created_at payment_id amount_atomic",
        moving(PACE="is_requested"),
    ),
    Facts(
        "payments_transferreturn",
        "mode created_at store_id transfer_id payment_id asset_id destination_address amount_atomic"
        " is_simulated",
        moving(
            BOOKS="status",
            CHAIN="tx_hash is_elsewhere",
            PACE="failure_reason submitted_at submitted_real_at updated_at",
        ),
    ),
    Facts(
        "payments_withdrawal",
        "reference mode asset_id amount_atomic to_address reason requested_by_id requested_at",
        moving(
            BOOKS="status decided_by_id decided_at",
            CHAIN="tx_hash",
            PACE="is_requested failure_reason finished_at",
        ),
    ),
    Facts(
        "payouts_destination",
        "store_id mode created_at kind network address currency holder account_hint",
        moving(
            OWNERS="label verified_at rejected_at rejection_reason removed_at account_sealed"
            " cools_until usable_from"
        ),
    ),
    Facts(
        "payouts_payout",
        "store_id mode created_at rail schedule_id asset_id amount_atomic destination_id"
        " destination_address bears_network_fee fiat_currency agent_credential_id maker_id"
        " worth_cents idempotency_caller idempotency_key",
        moving(
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
        moving(OWNERS="status decided_by_id decided_at reason"),
    ),
    Facts(
        "payouts_payoutbatch",
        "store_id mode created_at filename digest uploaded_by_id form_key",
        moving(OWNERS="status released_by_id released_at usable_from approval_id"),
    ),
    Facts(
        "payouts_payoutbatchline",
        "batch_id number asset_id amount_atomic destination_id address written label",
        moving(HISTORY="status problem payout_id", WORDS="lookalike twin_number"),
        key_type="bigint",
        settled_numbers=30_000,  # three files of the largest size, read at the same time
    ),
    Facts(
        "payouts_schedule",
        "mode created_at store_id asset_id",
        moving(
            OWNERS="frequency destination_id destination_address swap_target_asset_id"
            " minimum_fiat_cents minimum_fiat_currency anchor_day is_active usable_from"
            " maker_id deleted_at updated_at",
            PACE="next_payout_at last_payout_at last_skip_reason last_failure",
        ),
    ),
    numbered(
        "payouts_schedulerun",
        "schedule_id due_at at",
        moving(HISTORY="skip_reason failure amount_atomic is_swapping swap_id"),
    ),
    Facts(
        "stores_staffrequest",
        "kind target_id name content digest reason asked_by_id asked_at expires_at",
        moving(OWNERS="state decided_by_id decided_at decision_reason sealed"),
    ),
    Facts(
        "swaps_swap",
        "store_id mode created_at source_asset_id buy_asset_id sell_amount_atomic"
        " expected_buy_amount_atomic min_buy_amount_atomic slippage_bps provider payment_id"
        " idempotency_caller idempotency_key",
        moving(
            HISTORY="status failure_reason updated_at completed_at",
            BOOKS="actual_buy_amount_atomic",
            CHAIN="tx_hash",
        ),
    ),
    Facts("webhooks_event", "store_id mode created_at type object account_id", is_pruned=True),
    Facts(
        "webhooks_delivery",
        "mode created_at store_id event_id endpoint_id is_test",
        moving(
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
_SEEN = "it says that somebody looked, and moves nothing"
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
        " webhooks_queueddelivery chain_address chain_block chain_head chain_coin"
        " billing_invoicecounter",
        _SIGN_IN: "access_accesstoken access_devicegrant access_grant access_idtoken"
        " access_knownbrowser access_refreshtoken"
        " access_requestentry access_secondfactor access_signin django_session"
        " django_otp_webauthn_webauthnattestation django_otp_webauthn_webauthncredential"
        " django_otp_webauthn_webauthnuserhandle stores_invitation platforms_onboardinglink"
        " platforms_destinationconfirmation",
        _CONFIGURED: "access_coolingsettings agents_agentpayoutcap agents_agentsettings"
        " assets_acceptedasset billing_invoicesettings"
        " payouts_payoutsettings reports_accountcodes stores_member"
        " stores_notificationchoice stores_verificationdocument",
        _WORK: "chain_obstacle chain_gasleft assets_dailyrate assets_rate chain_addresslook"
        " chain_addresstolook chain_sighting chain_blocktoread chain_balancecheck"
        " chain_unexplainedbalance core_drawing core_heartbeat"
        " core_lease core_outgoingmail core_rowfailure core_rowturn onramp_callback"
        " onramp_fundingsession payments_paymentemail reports_report"
        " payouts_offramporder stores_notification stores_testletter stores_workerorder"
        " webhooks_attempt webhooks_host",
        _DRAFT: "billing_invoice billing_invoicechange billing_invoiceline billing_invoicetax"
        " billing_subscriptionitem",
        _SEEN: "payments_checkoutview",
        _DJANGO: "auth_group auth_group_permissions auth_permission django_admin_log"
        " django_content_type stores_user_groups stores_user_user_permissions",
    }.items()
    for table in tables.split()
}
