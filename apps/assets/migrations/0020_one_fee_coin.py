"""A network takes fees in one coin; built while others write."""

from django.db import migrations, models

_ALONE = models.UniqueConstraint(
    condition=models.Q(pays_fees=True), fields=("chain",), name="asset_pays_fees_alone"
)
_INDEX = (
    "CREATE UNIQUE INDEX CONCURRENTLY asset_pays_fees_alone ON assets_asset (chain_id)"
    " WHERE pays_fees"
)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("assets", "0019_fee_coins")]

    operations = [
        migrations.SeparateDatabaseAndState(
            [migrations.RunSQL(_INDEX, "DROP INDEX CONCURRENTLY asset_pays_fees_alone")],
            [migrations.AddConstraint("asset", _ALONE)],
        ),
    ]
