"""Neutron's ML2 driver for a cloud without agents: every port is bound at once.

It also writes the floating IPs to a file whenever one changes, for the process that assigns them to container nodes.
The file is named by FORESAIL_FLOATING_IPS; without it nothing is written.
"""
import json
import os

from neutron_lib import constants, context
from neutron_lib.api.definitions import portbindings
from neutron_lib.callbacks import events, registry, resources
from neutron_lib.plugins import constants as plugin_constants, directory
from neutron_lib.plugins.ml2 import api
from oslo_log import log

LOG = log.getLogger(__name__)


class ForesailNetwork(api.MechanismDriver):
    def initialize(self):
        self._file = os.environ.get("FORESAIL_FLOATING_IPS")
        if self._file is None:
            return
        for event in (events.AFTER_CREATE, events.AFTER_UPDATE, events.AFTER_DELETE):
            registry.subscribe(self._floating_ip_changed, resources.FLOATING_IP, event)

    def bind_port(self, context):
        for segment in context.segments_to_bind:
            context.set_binding(segment[api.ID], portbindings.VIF_TYPE_OVS,
                                {portbindings.CAP_PORT_FILTER: True},
                                status=constants.PORT_STATUS_ACTIVE)
            return

    def delete_port_postcommit(self, context):
        # deleting a port releases its floating IP without an event of the floating IP
        if self._file is not None:
            self._write()

    def _floating_ip_changed(self, resource, event, trigger, payload):
        self._write()

    def _write(self):
        try:
            router = directory.get_plugin(plugin_constants.L3)
            floating_ips = router.get_floatingips(context.get_admin_context()) if router else []
            rows = [{"address": each["floating_ip_address"], "port": each["port_id"]}
                    for each in floating_ips if each["port_id"]]
            with open(self._file + ".part", "w", encoding="utf-8") as part:
                json.dump(rows, part)
            os.replace(self._file + ".part", self._file)
        except Exception:
            # a completed API call must not fail because of this
            LOG.exception("the floating IPs could not be written to %s", self._file)
