"""Octavia's API on SQLite. A thread replaces its worker: it requests the machines that balance (amphorae.py), and completes
every pending state."""
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

from amphorae import Amphorae

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
PARTS = (models.L7Rule, models.L7Policy, models.Member, models.HealthMonitor, models.Pool, models.Listener)


def make_tables():
    base_models.BASE.metadata.create_all(db_api.get_engine())
    session = db_api.get_session()
    with session.begin():
        for names, model in NAMES:
            for name in names:
                if not session.get(model, name):
                    session.add(model(name=name))


def end_pending():
    network = openstack.connect().network
    amphorae = Amphorae(os.environ.get("FORESAIL_MACHINES"), network)
    while True:
        time.sleep(0.5)
        try:
            end_pending_once(network, amphorae)
        except Exception:
            logging.exception("pending states could not be ended")


def is_pending(part):
    return part.provisioning_status.startswith("PENDING_")


def end_pending_once(network, amphorae):
    session = db_api.get_session()
    with session.begin():
        for model in PARTS:
            for part in session.query(model).filter(model.provisioning_status.like("PENDING_%")):
                if part.provisioning_status != constants.PENDING_DELETE:
                    part.provisioning_status, part.operating_status = constants.ACTIVE, constants.ONLINE
                else:
                    session.delete(part)
        # deleted parts no longer belong to their load balancer
        session.flush()
        session.expire_all()
        for balancer in session.query(models.LoadBalancer):
            if balancer.provisioning_status == constants.PENDING_DELETE:
                end_balancer(session, balancer, network, amphorae)
            elif balancer.provisioning_status != constants.DELETED:
                amphorae.ask(balancer)
                state = amphorae.state(balancer)
                if is_pending(balancer) and state == "running":
                    balancer.provisioning_status, balancer.operating_status = constants.ACTIVE, constants.ONLINE
                elif is_pending(balancer) and state == "failed":
                    balancer.provisioning_status = constants.ERROR


def end_balancer(session, balancer, network, amphorae):
    if not amphorae.remove(balancer):
        return
    network.delete_port(balancer.vip.port_id)
    # with `cascade` the API has marked only the load balancer
    for part in [*balancer.listeners, *balancer.pools]:
        session.delete(part)
    balancer.provisioning_status = constants.DELETED


class Silent(simple_server.WSGIRequestHandler):
    def log_message(self, *arguments):
        pass


def main():
    app = api_app.setup_app(argv=sys.argv)
    cfg.CONF.set_override("pool_timeout", None, "database")
    make_tables()
    threading.Thread(target=end_pending, daemon=True).start()
    port = int(os.environ["FORESAIL_PORT"])
    simple_server.make_server("127.0.0.1", port, app, handler_class=Silent).serve_forever()


main()
