"""Creates Neutron's tables from its models; its migrations are not written for SQLite. Argument: the connection."""
import sys

import sqlalchemy
from neutron.db.migration.models import head

head.get_metadata().create_all(sqlalchemy.create_engine(sys.argv[1]))
