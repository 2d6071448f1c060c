"""cinder's scheduler, volume service and API in one process, so that messages need no broker."""
import sys

import eventlet

eventlet.monkey_patch()  # the libraries have to be patched before they are loaded

from cinder.common import config  # noqa: E402  it registers the options
from cinder import coordination, objects, rpc, service  # noqa: E402
from oslo_config import cfg  # noqa: E402
from oslo_log import log  # noqa: E402
from oslo_service import service as oslo_service  # noqa: E402

CONF = cfg.CONF
BACKEND = "foresail"


def main():
    objects.register_all()
    CONF(sys.argv[1:], project="cinder")
    config.set_middleware_defaults()
    log.setup(CONF, "cinder")
    coordination.COORDINATOR.start()
    rpc.init(CONF)
    launcher = oslo_service.ServiceLauncher(CONF)
    launcher.launch_service(service.Service.create(binary="cinder-scheduler"))
    launcher.launch_service(service.Service.create(
        binary="cinder-volume", host=f"{CONF.host}@{BACKEND}", service_name=BACKEND))
    launcher.launch_service(service.WSGIService("osapi_volume"))
    launcher.wait()


main()
