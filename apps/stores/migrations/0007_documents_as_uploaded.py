"""Documents that are kept as they were uploaded are found by an index, built while others write."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("stores", "0006_documents_redrawn")]

    operations = [
        AddIndexConcurrently(
            model_name="verificationdocument",
            index=models.Index(
                condition=models.Q(("is_refused", False), ("redrawn_at", None)),
                fields=["id"],
                name="document_as_uploaded",
            ),
        ),
    ]
