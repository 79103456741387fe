"""People, their stores, and their rights in a store.

A store's settings decide about its payments; both modes share them.
"""

from decimal import Decimal
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Lower
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_noop

from apps.core import emails
from apps.core.ids import IdField
from apps.stores.audit_words import action_words
from apps.stores.staff_roles import StaffRole


class UserManager(BaseUserManager["User"]):
    def get_by_natural_key(self, username: str | None) -> "User":
        user = self.with_email(username or "")
        if user is None:
            raise self.model.DoesNotExist
        return user

    def with_email(self, text: str) -> "User | None":
        """The user of an address, however it is spelled. No other look-up by address is right.

        An account from before there was one form of an address may be known by its own spelling
        only (migration stores 0010).
        """
        own = text.strip().lower()
        keys = {key for key in (own, emails.canonical(text)) if key.isprintable()}
        users = {row.email_key: row for row in self.filter(email_key__in=keys)}
        return users.get(own) or next(iter(users.values()), None)

    def create_superuser(self, email: str, password: str, **fields: Any) -> "User":
        """For Django's own `createsuperuser`."""
        user = self.model(email=email, is_staff=True, is_superuser=True, **fields)
        user.set_password(password)
        user.save()
        return user


class User(AbstractBaseUser, PermissionsMixin):
    """A person, known by email address. Addresses are compared by their canonical form alone."""

    id = IdField()
    email = models.EmailField(max_length=254)
    email_key = models.CharField(max_length=400, unique=True, editable=False)  # emails.canonical
    name = models.CharField(max_length=100, blank=True)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    staff_roles = ArrayField(
        models.CharField(max_length=7, choices=StaffRole.choices),
        default=list,
        db_default=[],
        blank=True,
    )
    session_version = models.PositiveIntegerField(default=0)
    # How pages and emails speak to them. Without a zone the browser's is taken, and UTC in emails.
    language = models.CharField(max_length=10, default="", db_default="", blank=True)
    time_zone = models.CharField(max_length=64, default="", db_default="", blank=True)
    # Of dates and numbers (apps.core.text.regions).
    region = models.CharField(max_length=10, default="", db_default="", blank=True)

    # What a request read as this person came in (apps.access.person.entering).
    entry: Any = None

    # What makes `email_key` unique.
    EMAIL_ONCE: ClassVar[str] = "stores_user_email_key_0745a59d_uniq"

    objects: ClassVar[UserManager] = UserManager()

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="user_email_key_is_of_email",
                condition=models.Q(email_key=Lower("email")) | models.Q(email__regex="[^ -~]"),
            ),
            models.CheckConstraint(
                name="user_with_staff_roles_is_staff",
                condition=models.Q(staff_roles=[]) | models.Q(is_staff=True),
            ),
        ]

    def __str__(self) -> str:
        return self.email

    def save(self, *args: Any, **options: Any) -> None:
        columns = options.get("update_fields")
        if columns is None or "email" in columns:
            self.email_key = emails.canonical(self.email)
            options["update_fields"] = None if columns is None else {*columns, "email_key"}
        super().save(*args, **options)

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """Sessions end with a new password, and with a new `session_version`."""
        salt = "apps.stores.models.User.session"
        return salted_hmac(
            salt, f"{self.password}:{self.session_version}", secret=secret, algorithm="sha256"
        ).hexdigest()


class Currency(models.TextChoices):
    """The fiat currencies that price a payment."""

    USD = "USD", "US Dollar"
    EUR = "EUR", gettext_noop("Euro")
    GBP = "GBP", gettext_noop("British Pound")
    HKD = "HKD", gettext_noop("Hong Kong Dollar")
    SGD = "SGD", gettext_noop("Singapore Dollar")
    JPY = "JPY", gettext_noop("Japanese Yen")
    DKK = "DKK", gettext_noop("Danish Krone")
    CHF = "CHF", gettext_noop("Swiss Franc")
    SEK = "SEK", gettext_noop("Swedish Krona")
    NOK = "NOK", gettext_noop("Norwegian Krone")


class WayOfSelling(models.TextChoices):
    """How a store's customers reach its checkout: decides what its people are asked to set up."""

    LINKS = "links", gettext_noop("Payment links and point of sale")
    WEBSITE = "website", gettext_noop("Website or shop")
    PLATFORM = "platform", gettext_noop("Platform for other merchants")


class Store(models.Model):
    """A merchant account. A sub-merchant is a store with a `platform`."""

    id = IdField()
    name = models.CharField(max_length=100)
    country = models.CharField(max_length=2, blank=True)
    created_at = models.DateTimeField()
    deleted_at = models.DateTimeField(null=True, blank=True)

    settlement_currency = models.CharField(
        max_length=3, choices=Currency.choices, default=Currency.EUR
    )
    accept_overpayments = models.BooleanField(default=True)
    accept_underpayments = models.BooleanField(default=False)
    underpayment_tolerance_bps = models.PositiveIntegerField(default=50)
    overpayment_tolerance_bps = models.PositiveIntegerField(default=100)
    customer_pays_fee = models.BooleanField(default=False)
    # To customers whose payment has expired.
    offers_new_quotes = models.BooleanField(default=True, db_default=True)
    # In live mode, by themselves: stores from before may (apps.payments.services.origin).
    publishable_key_amounts = models.BooleanField(default=False, db_default=True)
    # Whether it can be called with the API of BTCPay Server (decision 945).
    has_compatible_apis = models.BooleanField(default=False, db_default=False)
    fee_fraction = models.DecimalField(max_digits=9, decimal_places=8, default=Decimal("0.01"))

    platform = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    platform_fee_fraction = models.DecimalField(
        max_digits=9, decimal_places=8, null=True, blank=True
    )
    # Of a sub-merchant: until then live payments bear the fee of before (stores.platform_fees).
    platform_fee_before_fraction = models.DecimalField(
        max_digits=9, decimal_places=8, null=True, blank=True
    )
    platform_fee_from = models.DateTimeField(null=True, blank=True)
    # Of a platform: none of its sub-merchants' payments bears more; null: no ceiling.
    platform_fee_ceiling_fraction = models.DecimalField(
        max_digits=9, decimal_places=8, null=True, blank=True
    )
    external_id = models.CharField(max_length=255, null=True, blank=True)
    is_platform = models.BooleanField(default=False)
    kyc_confirmed_at = models.DateTimeField(null=True, blank=True)

    # The seller as customers and tax offices know it; the country is a field above.
    street = models.CharField(max_length=200, default="", db_default="", blank=True)
    postal_code = models.CharField(max_length=20, default="", db_default="", blank=True)
    city = models.CharField(max_length=100, default="", db_default="", blank=True)
    legal_name = models.CharField(max_length=200, default="", db_default="", blank=True)
    vat_number = models.CharField(max_length=20, default="", db_default="", blank=True)
    register_number = models.CharField(max_length=100, default="", db_default="", blank=True)
    website = models.CharField(max_length=2048, default="", db_default="", blank=True)
    support_email = models.EmailField(max_length=254, blank=True)
    support_phone = models.CharField(max_length=50, default="", db_default="", blank=True)
    # What its customers are written to in, as long as they chose nothing themselves; empty:
    # English.
    customer_language = models.CharField(max_length=10, default="", db_default="", blank=True)
    # In which its days begin, on documents and in figures; empty: UTC, and the reader's in figures.
    time_zone = models.CharField(max_length=64, default="", db_default="", blank=True)
    brand_name = models.CharField(max_length=100, blank=True)
    logo_url = models.URLField(max_length=2048, blank=True)
    logo_name = models.CharField(max_length=200, blank=True)  # where the uploaded logo is stored
    # Which sites may frame its checkout; empty: any.
    embed_origins = ArrayField(
        models.CharField(max_length=300), default=list, db_default=[], blank=True
    )
    primary_color = models.CharField(max_length=7, blank=True)
    secondary_color = models.CharField(max_length=7, blank=True)
    remove_service_branding = models.BooleanField(default=False)
    # Empty: its people haven't said yet.
    way_of_selling = models.CharField(
        max_length=10, choices=WayOfSelling.choices, default="", db_default="", blank=True
    )
    # Names of steps of its setup (apps.dashboard.go_live) that its people left out.
    skipped_steps = ArrayField(
        models.CharField(max_length=30), default=list, db_default=[], blank=True
    )
    checkout_domain = models.CharField(max_length=253, blank=True)
    # Served since; null: not served.
    checkout_domain_verified_at = models.DateTimeField(null=True, blank=True)
    checkout_domain_checked_at = models.DateTimeField(null=True, blank=True)
    checkout_domain_problem = models.CharField(max_length=200, blank=True)

    # Of an archive: the store whose records of test mode it has (apps.stores.test_data).
    archive_of = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    # While they are being put away: since when, and when it was done first.
    test_reset_at = models.DateTimeField(null=True, blank=True)
    test_reset_moved_at = models.DateTimeField(null=True, blank=True)

    test_offset_seconds = models.BigIntegerField(default=0)
    # While the clock is being moved: to which offset.
    test_clock_target_seconds = models.BigIntegerField(null=True, blank=True)

    # Since when two of the staff have stopped each (apps.stores.staff.suspensions); null: it isn't.
    payments_suspended_at = models.DateTimeField(null=True, blank=True)
    payouts_suspended_at = models.DateTimeField(null=True, blank=True)
    sign_ins_suspended_at = models.DateTimeField(null=True, blank=True)

    # Whether its payments can be paid by card. Every answer about a payment says so, so it is read
    # with the store; all else that upper apps decide about a store is in rows of theirs
    # (apps.stores.settings).
    card_funding_live = models.BooleanField(default=False)
    card_funding_test = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(fee_fraction__gte=0, fee_fraction__lt=1),
                name="store_fee_is_fraction",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    underpayment_tolerance_bps__lte=10_000, overpayment_tolerance_bps__lte=10_000
                ),
                name="store_tolerances_are_bps",
            ),
            # A store that is filled with a past begins a month back at most.
            models.CheckConstraint(
                condition=models.Q(test_offset_seconds__gte=-31 * 86_400),
                name="store_clock_a_month_behind",
            ),
            models.UniqueConstraint(
                fields=["checkout_domain"],
                condition=models.Q(checkout_domain_verified_at__isnull=False),
                name="store_domain_unique",
            ),
            models.UniqueConstraint(
                fields=["platform", "external_id"],
                condition=models.Q(external_id__isnull=False),
                name="store_external_id_unique",
            ),
        ]
        indexes = [
            models.Index(fields=["name"], name="store_by_name"),
            models.Index(fields=["-created_at"], name="store_newest"),
            models.Index(
                fields=["id"],
                condition=models.Q(test_offset_seconds__gt=0),
                name="store_with_clock_ahead",
            ),
            models.Index(
                fields=["id"],
                condition=models.Q(test_clock_target_seconds__isnull=False),
                name="store_with_clock_asked",
            ),
            models.Index(
                fields=["checkout_domain_checked_at"],
                condition=~models.Q(checkout_domain="") & models.Q(deleted_at=None),
                name="store_domain_to_check",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def is_closed_in(self, mode: str) -> bool:
        """True if nobody uses anything of the store in this mode now: it is an archive, or becomes
        one (apps.platforms.services.test_data)."""
        return self.archive_of_id is not None or (mode == "test" and self.test_reset_at is not None)


class Verification(models.Model):
    """A store's answers about its business, and a person's decision about them. One at a time
    waits."""

    class Status(models.TextChoices):
        PENDING = "pending"
        APPROVED = "approved"
        REJECTED = "rejected"

    id = IdField()
    store = models.ForeignKey(Store, on_delete=models.PROTECT, related_name="+", db_index=False)
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.PENDING)
    business_legal_name = models.CharField(max_length=200)
    business_country = models.CharField(max_length=2)
    registration_number = models.CharField(max_length=100, null=True)
    tax_id = models.CharField(max_length=100, null=True)
    business_website = models.CharField(max_length=2048, null=True)
    contact_email = models.CharField(max_length=254, null=True)
    contact_phone = models.CharField(max_length=50, null=True)
    business_description = models.CharField(max_length=5000, null=True)
    legal_form = models.CharField(max_length=100, null=True)
    representative = models.CharField(max_length=200, null=True)
    street = models.CharField(max_length=200, null=True)
    postal_code = models.CharField(max_length=20, null=True)
    city = models.CharField(max_length=100, null=True)
    rejection_reason = models.CharField(max_length=500, null=True)
    submitted_at = models.DateTimeField()
    reviewed_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["store"],
                condition=models.Q(status="pending"),
                name="verification_one_pending",
            )
        ]
        indexes = [models.Index(fields=["store", "-created_at"], name="verification_of_store")]

    def __str__(self) -> str:
        return f"{self.business_legal_name} ({self.status})"


class Role(models.TextChoices):
    """Rights of a member (apps.stores.roles); each may do what the one after it may, but for the
    cashier, who only sells."""

    OWNER = "owner"
    ADMIN = "admin"
    DEVELOPER = "developer"
    VIEWER = "viewer"
    ACCOUNTANT = "accountant"
    CASHIER = "cashier"


class Member(models.Model):
    """A person in a store."""

    store = models.ForeignKey(
        Store, on_delete=models.PROTECT, related_name="members", db_index=False
    )
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices)
    created_at = models.DateTimeField()
    # Notifications: read up to then, those read since by themselves, and when the next summary of
    # payments is due (null: not known yet).
    live_read_at = models.DateTimeField(null=True, blank=True)
    test_read_at = models.DateTimeField(null=True, blank=True)
    read_ids = ArrayField(models.UUIDField(), default=list, db_default=[], blank=True)
    summary_due_at = models.DateTimeField(null=True, blank=True, db_index=True)
    # How this person has set up each list (apps.stores.lists).
    lists = models.JSONField(default=dict, db_default={}, blank=True)
    # The mode that this person chose last in the store's dashboard; empty: none yet.
    last_mode = models.CharField(max_length=4, default="", db_default="", blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["store", "user"], name="member_once_per_store")
        ]


class AuditEntry(models.Model):
    """An act for ever: no foreign keys, so that it outlives the records it names, and no change (a
    trigger refuses it)."""

    at = models.DateTimeField()
    store_id = models.UUIDField(null=True)
    mode = models.CharField(max_length=4, blank=True)
    actor_kind = models.CharField(max_length=8)
    actor_id = models.CharField(max_length=64, blank=True)
    actor_name = models.CharField(max_length=500, blank=True)
    address = models.CharField(max_length=64, blank=True)
    request_id = models.CharField(max_length=64, blank=True)
    action = models.CharField(max_length=64)
    target_type = models.CharField(max_length=64, blank=True)
    target_id = models.CharField(max_length=64, blank=True)
    target_name = models.CharField(max_length=500, blank=True)
    reason = models.CharField(max_length=500, blank=True)
    details = models.JSONField(default=dict, blank=True)

    class Meta:
        verbose_name_plural = "audit entries"
        indexes = [
            models.Index(fields=["store_id", "-id"], name="audit_of_store"),
            models.Index(
                fields=["target_id"], condition=~models.Q(target_id=""), name="audit_of_target"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.pk}: {self.title}"

    @property
    def title(self) -> str:
        return action_words(self.action)


class AuditSeal(models.Model):
    """A hash over lines of the audit log and over the seal before (apps.stores.auditing.seals); no
    change either."""

    number = models.BigIntegerField(primary_key=True)
    sealed_at = models.DateTimeField()
    entry_ids = ArrayField(models.BigIntegerField())
    previous = models.CharField(max_length=64)
    seal = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"{self.number}:{self.seal}"


class Invitation(models.Model):
    """An offer by e-mail to join a store. Only the hash of its token is kept; a new email makes a
    new token."""

    id = IdField()
    store = models.ForeignKey(Store, on_delete=models.PROTECT, related_name="+")
    email = models.EmailField(max_length=254)
    role = models.CharField(max_length=10, choices=Role.choices)
    token_hash = models.BinaryField(max_length=32, unique=True)
    invited_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "store",
                Lower("email"),
                condition=models.Q(accepted_at=None, revoked_at=None),
                name="invitation_once_per_store",
            )
        ]
