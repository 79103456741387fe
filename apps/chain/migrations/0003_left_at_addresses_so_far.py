"""Of deposits that were set aside before and never swept: what they brought, address by address. At an
address that was swept, what is left wasn't worth its gas. And the index by which the fullest are found."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

AT_ONCE = 5_000
FILL = """
WITH found AS (
    SELECT d.id FROM chain_deposit d WHERE d.id > %(after)s ORDER BY d.id LIMIT %(limit)s
), small AS (
    SELECT d.id, sum(every.amount_atomic) AS amount
    FROM found JOIN chain_deposit d ON d.id = found.id
    JOIN chain_deposit every ON every.address_id = d.address_id AND every.chain_id = d.chain_id
        AND every.asset_id = d.asset_id AND NOT every.is_simulated AND NOT every.is_lost
        AND every.status = 'confirmed' AND every.handled_status = 'confirmed'
    WHERE NOT d.is_unswept AND d.left_atomic IS NULL AND NOT d.is_simulated AND NOT EXISTS (
        SELECT FROM chain_outgoingtransaction t WHERE t.chain_id = d.chain_id
            AND t.from_address = d.address_id AND t.purpose = 'sweep' AND t.status <> 'failed')
    GROUP BY d.id
), filled AS (
    UPDATE chain_deposit SET left_atomic = small.amount FROM small WHERE chain_deposit.id = small.id
)
SELECT (SELECT id FROM found ORDER BY id DESC LIMIT 1)
"""


def fill(apps, schema_editor):
    """In parts, each by itself: a run that was stopped begins again and changes nothing twice."""
    after = '00000000-0000-0000-0000-000000000000'
    with schema_editor.connection.cursor() as cursor:
        while after is not None:
            cursor.execute(FILL, {"after": after, "limit": AT_ONCE})
            ((after,),) = cursor.fetchall()


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("chain", "0002_left_at_addresses")]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
        AddIndexConcurrently(
            model_name="deposit",
            index=models.Index(
                condition=models.Q(("is_unswept", False), ("left_atomic__gt", 0)),
                fields=["chain", "asset", "-left_atomic"],
                name="deposit_set_aside",
            ),
        ),
    ]
