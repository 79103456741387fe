"""Staff see which mail left and which was given up, never what stands in it."""

from django.contrib import admin

from apps.core.models import OutgoingMail
from apps.core.staff import ReadOnly


@admin.register(OutgoingMail)
class OutgoingMailAdmin(ReadOnly):
    list_display = ("created_at", "template", "to", "status", "attempts", "error", "sent_at")
    list_filter = ("status", "template")
    search_fields = ("to", "key")
    ordering = ("-created_at",)
    exclude = ("sealed_letter", "key")
