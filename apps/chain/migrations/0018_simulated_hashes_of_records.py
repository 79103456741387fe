"""Changes no table. Records of simulated transfers that were made since have the hash that
`apps.chain.simulated.hash_of` makes of their id; the audit tells the two apart by when this was
applied."""

from typing import ClassVar

from django.db import migrations


class Migration(migrations.Migration):
    dependencies: ClassVar = [("chain", "0017_deposits_of_no_worker")]
    operations: ClassVar = []
