"""Documents of a business's verification: what a store has uploaded, and which submission they went
with."""

from django.db import models

from apps.core.ids import IdField


class VerificationDocument(models.Model):
    """A file of the private storage. Without a verification it waits for the next submission, and
    can still be removed.

    Nobody opens one that isn't redrawn: an earlier release has kept it as it was uploaded. It is
    redrawn in time, or refused when its pages can't be drawn.
    """

    class Kind(models.TextChoices):
        PDF = "pdf", "PDF"
        JPEG = "jpeg", "JPEG"
        PNG = "png", "PNG"

    id = IdField()
    store = models.ForeignKey("stores.Store", on_delete=models.PROTECT, related_name="+")
    verification = models.ForeignKey(
        "stores.Verification", null=True, on_delete=models.PROTECT, related_name="+"
    )
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=4, choices=Kind.choices)
    size_bytes = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)  # SHA-256 of what is kept
    file_name = models.CharField(max_length=200, unique=True)
    uploaded_at = models.DateTimeField()
    redrawn_at = models.DateTimeField(null=True)
    is_refused = models.BooleanField(default=False, db_default=False)

    class Meta:
        indexes = [
            models.Index(
                fields=["id"],
                condition=models.Q(redrawn_at=None, is_refused=False),
                name="document_as_uploaded",
            )
        ]

    def __str__(self) -> str:
        return self.name
