"""nova's conductor, scheduler, compute and API in one process, so that messages need no broker."""
import sys
import time

import nova.cmd  # noqa: F401  eventlet has to patch the libraries before they are loaded
import nova.conf
import os_brick
import os_vif
from nova import config, context, exception, objects, service
from nova.compute import rpcapi as compute_rpcapi
from nova.conductor import rpcapi as conductor_rpcapi
from nova.objects import host_mapping
from nova.scheduler import rpcapi as scheduler_rpcapi
from oslo_log import log
from oslo_service import service as oslo_service

CONF = nova.conf.CONF


def wait_for_host_mapping(admin, seconds=60):
    """Maps the compute host to its cell before the API answers; else the first servers would find no host."""
    deadline = time.monotonic() + seconds
    while True:
        host_mapping.discover_hosts(admin)
        try:
            objects.HostMapping.get_by_host(admin, CONF.host)
            return
        except exception.HostMappingNotFound:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def main():
    config.parse_args(sys.argv)
    log.setup(CONF, "nova")
    objects.register_all()
    # nova looks for drivers in its own package only
    import foresail_machines
    sys.modules["nova.virt.foresail_machines"] = foresail_machines
    os_brick.setup(CONF)
    os_vif.initialize()
    objects.Service.enable_min_version_cache()
    launcher = oslo_service.ServiceLauncher(CONF)
    for binary, topic in (("nova-conductor", conductor_rpcapi.RPC_TOPIC),
                          ("nova-scheduler", scheduler_rpcapi.RPC_TOPIC),
                          ("nova-compute", compute_rpcapi.RPC_TOPIC)):
        launcher.launch_service(service.Service.create(binary=binary, topic=topic))
    wait_for_host_mapping(context.get_admin_context())
    launcher.launch_service(service.WSGIService("osapi_compute"))
    launcher.wait()


main()
