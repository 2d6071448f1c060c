"""Nova's fake hypervisor, whose guests are container nodes.

Nova uses this as its hypervisor; each request is written to one folder per server, where another process
(sandbox/openstack/machines/main.ts) reads it, runs the container and answers:

  request.json  what nova wants: name, power, boot (a number that grows with each reboot), addresses, key
  answer.json   what runs: state (running, stopped or failed), boot, message
  console.log   what the server's console shows

A server that is deleted has no request.json any more, and its folder goes when its container is gone.
The folder of folders is named by FORESAIL_MACHINES; without it servers are nothing but rows in nova's database.
"""
import os
import time

from nova import context as nova_context
from nova import exception, objects
from nova.compute import power_state, vm_states
from nova.virt import fake
from oslo_log import log

from machine_folders import MachineFolders

LOG = log.getLogger(__name__)
WAIT_SECONDS = 180
CONSOLE_BYTES = 100 * 1024


class Machines(MachineFolders):
    """The folders through which this process communicates with the one that runs containers."""

    def change(self, uuid, power, reboot=False):
        """Requests another power state or a reboot, and waits until it is done."""
        request = self.read(uuid, "request.json")
        if request is None:
            raise exception.InstanceNotFound(instance_id=uuid)
        boots = reboot or (power == "on" and request["power"] == "off")
        request = {**request, "power": power, "boot": request["boot"] + (1 if boots else 0)}
        self.ask(uuid, request)
        self.wait(uuid)

    def wait(self, uuid):
        deadline = time.monotonic() + WAIT_SECONDS
        answer = None
        while time.monotonic() < deadline:
            request, answer = self.read(uuid, "request.json"), self.read(uuid, "answer.json")
            if request is None:
                return
            if answer is not None and answer["boot"] == request["boot"]:
                if answer["state"] == "failed":
                    raise exception.NovaException(answer["message"])
                if answer["state"] == {"on": "running", "off": "stopped"}[request["power"]]:
                    return
            time.sleep(0.1)
        raise exception.NovaException(
            f"its container was not ready within {WAIT_SECONDS} s; last answer: {answer or 'none'}")

    def forget(self, uuid):
        if not self.withdraw(uuid):
            return
        deadline = time.monotonic() + WAIT_SECONDS
        while not self.is_gone(uuid):
            if time.monotonic() > deadline:
                raise exception.NovaException(f"its container was not removed within {WAIT_SECONDS} s")
            time.sleep(0.1)

    def console(self, uuid):
        try:
            with open(self.path(uuid, "console.log"), "rb") as file:
                return file.read()[-CONSOLE_BYTES:]
        except FileNotFoundError:
            return b""


def addresses(network_info):
    """Returns the IPv4 addresses of a server, in the order of its ports."""
    return [{"port": vif["id"], "mac": vif["address"], "network": vif["network"]["id"],
             "cidr": subnet["cidr"], "gateway": (subnet.get("gateway") or {}).get("address"),
             "address": ip["address"]}
            for vif in network_info or []
            for subnet in vif["network"]["subnets"] if subnet["version"] == 4
            for ip in subnet["ips"]]


class ForesailMachines(fake.FakeDriverWithoutFakeNodes):
    def __init__(self, virtapi, read_only=False):
        super().__init__(virtapi, read_only)
        folder = os.environ.get("FORESAIL_MACHINES")
        self._machines = Machines(folder) if folder else None

    def init_host(self, host):
        super().init_host(host)
        # the fake hypervisor keeps its guests in memory only, and nova would stop servers that it does not find
        states = {vm_states.ACTIVE: power_state.RUNNING, vm_states.STOPPED: power_state.SHUTDOWN}
        for instance in objects.InstanceList.get_by_host(nova_context.get_admin_context(), host,
                                                         expected_attrs=["flavor"]):
            if instance.vm_state in states and instance.uuid not in self.instances:
                self.instances[instance.uuid] = fake.FakeInstance(
                    instance.name, states[instance.vm_state], instance.uuid)
                self.resources.claim(vcpus=instance.flavor.vcpus, mem=instance.flavor.memory_mb,
                                     disk=instance.flavor.root_gb)

    def spawn(self, context, instance, image_meta, injected_files, admin_password, allocations,
              network_info=None, block_device_info=None, power_on=True, accel_info=None):
        super().spawn(context, instance, image_meta, injected_files, admin_password, allocations,
                      network_info, block_device_info, power_on, accel_info)
        if self._machines is None:
            return
        try:
            self._machines.ask(instance.uuid, {
                "name": instance.display_name, "hostname": instance.hostname, "project": instance.project_id,
                "power": "on" if power_on else "off", "boot": 1,
                "addresses": addresses(network_info), "key": instance.key_data})
            self._machines.wait(instance.uuid)
        except Exception:
            self.destroy(context, instance, network_info)
            raise

    def destroy(self, context, instance, network_info, block_device_info=None, destroy_disks=True,
                destroy_secrets=True):
        if self._machines is not None:
            self._machines.forget(instance.uuid)
        if instance.uuid in self.instances:
            super().destroy(context, instance, network_info, block_device_info, destroy_disks, destroy_secrets)

    def power_off(self, instance, timeout=0, retry_interval=0):
        if self._machines is not None:
            self._machines.change(instance.uuid, "off")
        super().power_off(instance, timeout, retry_interval)

    def power_on(self, context, instance, network_info, block_device_info=None, accel_info=None,
                 share_info=None):
        if self._machines is not None:
            self._machines.change(instance.uuid, "on")
        super().power_on(context, instance, network_info, block_device_info, accel_info, share_info)

    def reboot(self, context, instance, network_info, reboot_type, block_device_info=None,
               bad_volumes_callback=None, accel_info=None, share_info=None):
        if self._machines is not None:
            self._machines.change(instance.uuid, "on", reboot=True)
        super().power_on(context, instance, network_info, block_device_info)

    def attach_interface(self, context, instance, image_meta, vif):
        self._interfaces[vif["id"]] = vif
        self._change_addresses(instance, lambda old: old + addresses([vif]))

    def detach_interface(self, context, instance, vif):
        self._interfaces.pop(vif["id"], None)
        self._change_addresses(instance, lambda old: [each for each in old if each["port"] != vif["id"]])

    def _change_addresses(self, instance, change):
        request = self._machines and self._machines.read(instance.uuid, "request.json")
        if request:
            self._machines.ask(instance.uuid, {**request, "addresses": change(request["addresses"])})

    def get_console_output(self, context, instance):
        if self._machines is None:
            return super().get_console_output(context, instance)
        return self._machines.console(instance.uuid)
