"""The part of apps/audit/facts.py about people, stores, coins and what they may do: their rows
stay, and most columns are their owners' to change."""

from apps.audit.fact_tables import Facts, moving, numbered

OF_OWNERS = (
    Facts(
        "access_agentcredential",
        "store_id mode created_at principal application_id",
        moving(
            OWNERS="name secret_hash token_prefix last_four scopes expires_at revoked_at user_id"
            " sends_anywhere_from",
            PACE="last_used_at",
        ),
    ),
    Facts(
        "access_apikey",
        "store_id mode created_at key_type",
        moving(
            OWNERS="name secret_hash prefix last_four scopes revoked_at user_id"
            " sends_anywhere_from",
            PACE="last_used_at",
        ),
    ),
    Facts(
        "access_application",
        "created store_id",
        moving(
            OWNERS="client_id redirect_uris post_logout_redirect_uris client_type"
            " authorization_grant_type client_secret hash_client_secret name skip_authorization"
            " updated algorithm allowed_origins registration_source cimd_expires_at website_url"
            " logo_url scopes is_active user_id"
        ),
    ),
    Facts(
        "assets_asset",
        "chain_id token_standard atomic_decimals",
        moving(
            OWNERS="contract_address min_withdrawal_atomic is_active eip712_name eip712_version"
            " pays_fees sweep_minimum_atomic sweep_cost_bps sweep_after_days",
            WORDS="coin_symbol name display_decimals position is_fiat_eligible is_listed",
            PACE="stopped_since",
        ),
        key_type="text",
    ),
    Facts(
        "assets_chain",
        "mode chain_id family",
        moving(
            OWNERS="required_confirmations confirmations_floor finality_tag counts_confirmations"
            " tag_confirmations block_milliseconds fee_symbol fee_model",
            WORDS="name symbol explorer_url wallet_url",
        ),
        key_type="text",
    ),
    Facts(
        "chain_hotwallet",
        "address number chain_id",
        moving(
            CHAIN="next_nonce",
            OWNERS="halted_at halted_reason halted_code",
            PACE="short_since without_gas_since",
        ),
        key_type="text",
    ),
    Facts(
        "billing_customer",
        "store_id mode created_at form_key",
        moving(
            OWNERS="email name phone address metadata deleted_at updated_at language email_key"
            " country vat_number tax_rate_id buyer_reference electronic_address"
            " e_invoice_format",
            PACE="vat_check_at",
        ),
    ),
    Facts(
        "billing_product",
        "store_id mode created_at form_key",
        moving(OWNERS="name description active metadata updated_at tax_rate_id supply_type"),
    ),
    Facts(
        "billing_taxsettings",
        "store_id mode created_at",
        moving(
            OWNERS="tax_rate_id is_automatic is_small_business charges_abroad supply_type"
            " sealed_ksef_token updated_at"
        ),
    ),
    Facts(
        "billing_documentsettings",
        "store_id mode created_at",
        moving(
            OWNERS="invoice_prefix credit_note_prefix restarts_yearly credits_automatically"
            " updated_at"
        ),
    ),
    Facts(
        "links_till",
        "store_id",
        moving(OWNERS="currency tip_bps vat_bps names updated_at"),
        grows=True,
    ),
    Facts(
        "links_tillitem",
        "store_id created_at currency",
        moving(OWNERS="name price_cents vat_bps removed_at updated_at"),
    ),
    Facts(
        "onramp_credential",
        "store_id mode created_at provider",
        moving(OWNERS="sealed_api_key sealed_webhook_secret api_key_hint is_active"),
    ),
    numbered("payouts_offrampcallback", "provider event_id received_at"),
    Facts(
        "payouts_approvalrule",
        "store_id mode created_at",
        moving(OWNERS="currency above_cents next_above_cents next_from changed_at"),
    ),
    numbered(
        "payouts_storepayoutcap", "store_id asset_id", moving(OWNERS="per_tx_atomic daily_atomic")
    ),
    Facts(
        "platforms_accessrequest",
        "store_id created_at",
        moving(OWNERS="status reason rejection_reason reviewed_at"),
    ),
    Facts(
        "stores_store",
        "created_at archive_of_id",
        moving(
            OWNERS="name country deleted_at settlement_currency accept_overpayments"
            " accept_underpayments underpayment_tolerance_bps overpayment_tolerance_bps"
            " customer_pays_fee fee_fraction platform_fee_fraction external_id is_platform"
            " kyc_confirmed_at support_email support_phone brand_name logo_url logo_name"
            " primary_color"
            " secondary_color remove_service_branding checkout_domain checkout_domain_verified_at"
            " checkout_domain_checked_at checkout_domain_problem card_funding_live"
            " card_funding_test city embed_origins postal_code street website offers_new_quotes"
            " customer_language time_zone platform_id publishable_key_amounts"
            " platform_fee_before_fraction platform_fee_from platform_fee_ceiling_fraction"
            " way_of_selling skipped_steps payments_suspended_at payouts_suspended_at"
            " sign_ins_suspended_at legal_name vat_number register_number has_compatible_apis",
            PACE="test_offset_seconds test_clock_target_seconds test_reset_at test_reset_moved_at",
        ),
    ),
    Facts(
        "stores_user",
        "",
        moving(
            OWNERS="password is_superuser email name is_active is_staff session_version email_key"
            " staff_roles",
            PACE="last_login",
            WORDS="language time_zone region",
        ),
    ),
    Facts(
        "stores_verification",
        "store_id created_at",
        moving(
            OWNERS="status business_legal_name business_country registration_number tax_id"
            " business_website contact_email contact_phone business_description rejection_reason"
            " submitted_at reviewed_at updated_at city legal_form postal_code representative"
            " street"
        ),
    ),
    Facts("swaps_autoswap", "store_id mode created_at", moving(OWNERS="since target_asset_id")),
    Facts(
        "webhooks_endpoint",
        "store_id mode created_at",
        moving(
            OWNERS="url host description status subscribed_events sealed_secret secret_preview"
            " platform platform_store_url metadata api_version updated_at deleted_at"
            " is_secret_of_platform format",
            PACE="verified_at disabled_at is_notice_due",
        ),
    ),
)
