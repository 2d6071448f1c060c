"""Octavia's API on SQLite. A thread stands in for its worker: it ends every pending state, and balances nothing."""
import logging
import os
import sys
import threading
import time
from wsgiref import simple_server

import openstack
from octavia.api import app as api_app
from octavia.common import constants
from octavia.db import api as db_api, base_models, models
from oslo_config import cfg

# the rows that Octavia's migrations put into tables of names
NAMES = (
    (constants.SUPPORTED_PROVISIONING_STATUSES, models.ProvisioningStatus),
    (constants.SUPPORTED_OPERATING_STATUSES, models.OperatingStatus),
    (constants.SUPPORTED_HEALTH_MONITOR_TYPES, models.HealthMonitorType),
    (constants.SUPPORTED_LB_ALGORITHMS, models.Algorithm),
    (constants.SUPPORTED_PROTOCOLS, models.Protocol),
    (constants.SUPPORTED_SP_TYPES, models.SessionPersistenceType),
    (constants.SUPPORTED_AMPHORA_ROLES, models.AmphoraRoles),
    (constants.SUPPORTED_LB_TOPOLOGIES, models.LBTopology),
    (constants.SUPPORTED_VRRP_AUTH, models.VRRPAuthMethod),
    (constants.SUPPORTED_L7RULE_TYPES, models.L7RuleType),
    (constants.SUPPORTED_L7RULE_COMPARE_TYPES, models.L7RuleCompareType),
    (constants.SUPPORTED_L7POLICY_ACTIONS, models.L7PolicyAction),
    (constants.SUPPORTED_CLIENT_AUTH_MODES, models.ClientAuthenticationMode),
)
# children before their parents, for deletion
PARTS = (models.L7Rule, models.L7Policy, models.Member, models.HealthMonitor, models.Pool, models.Listener,
         models.LoadBalancer)


def make_tables():
    base_models.BASE.metadata.create_all(db_api.get_engine())
    session = db_api.get_session()
    with session.begin():
        for names, model in NAMES:
            for name in names:
                if not session.get(model, name):
                    session.add(model(name=name))


def settle():
    network = openstack.connect().network
    while True:
        time.sleep(0.5)
        try:
            settle_once(network)
        except Exception:
            logging.exception("pending states could not be ended")


def settle_once(network):
    session = db_api.get_session()
    with session.begin():
        for model in PARTS:
            for part in session.query(model).filter(model.provisioning_status.like("PENDING_%")):
                if part.provisioning_status != constants.PENDING_DELETE:
                    part.provisioning_status, part.operating_status = constants.ACTIVE, constants.ONLINE
                elif model is models.LoadBalancer:
                    network.delete_port(part.vip.port_id)
                    part.provisioning_status = constants.DELETED
                else:
                    session.delete(part)


class Silent(simple_server.WSGIRequestHandler):
    def log_message(self, *arguments):
        pass


def main():
    app = api_app.setup_app(argv=sys.argv)
    cfg.CONF.set_override("pool_timeout", None, "database")
    make_tables()
    threading.Thread(target=settle, daemon=True).start()
    port = int(os.environ["FORESAIL_PORT"])
    simple_server.make_server("127.0.0.1", port, app, handler_class=Silent).serve_forever()


main()
