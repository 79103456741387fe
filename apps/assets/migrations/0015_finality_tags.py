"""The rule by which blocks of a network count: confirmations, the tag that its nodes give a block, or
both. Polygon's milestones are final within seconds, which its nodes tell as `finalized`."""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

_RULES = """
UPDATE assets_chain c SET finality_tag = r.tag, counts_confirmations = r.tag = '',
    tag_confirmations = r.number
FROM (VALUES ('ethereum', '', 100), ('sepolia', '', 100), ('polygon', 'finalized', 128),
    ('polygon_amoy', 'finalized', 128), ('base', '', 900), ('optimism', '', 900),
    ('arbitrum', '', 7200), ('base_sepolia', '', 900), ('optimism_sepolia', '', 900),
    ('arbitrum_sepolia', '', 7200)) r (id, tag, number)
WHERE c.id = r.id
"""


class Migration(migrations.Migration):
    dependencies = [("assets", "0014_networks_of_the_catalog")]

    operations = [
        migrations.RunSQL("SET LOCAL lock_timeout = '5s'", migrations.RunSQL.noop),
        migrations.AddField(
            model_name="chain",
            name="finality_tag",
            field=models.CharField(blank=True, db_default="", default="", max_length=9),
        ),
        migrations.AddField(
            model_name="chain",
            name="counts_confirmations",
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.AddField(
            model_name="chain",
            name="tag_confirmations",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.RunSQL(_RULES, migrations.RunSQL.noop),
        AddConstraintNotValid(
            model_name="chain",
            constraint=models.CheckConstraint(
                condition=models.Q(finality_tag="", counts_confirmations=True)
                | models.Q(finality_tag__in=["safe", "finalized"], tag_confirmations__gte=1),
                name="chain_has_a_rule_of_finality",
            ),
        ),
    ]
