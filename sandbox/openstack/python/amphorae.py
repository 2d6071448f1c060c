"""Replaces Octavia's amphorae, the machines that balance: a container node with haproxy for each load balancer.

Octavia's amphora is a nova server with an agent; here it is only a container, requested through a folder as nova's
servers are. Its request.json also contains the load balancer's listeners, and changes with them.
"""
from machine_folders import MachineFolders


def _check(monitor):
    if monitor is None or not monitor.enabled:
        return None
    return {"delay": monitor.delay, "timeout": monitor.timeout,
            "fall": monitor.fall_threshold, "rise": monitor.rise_threshold}


def _listener(listener):
    pool = listener.default_pool
    usable = [member for member in pool.members if member.enabled] if pool and pool.enabled else []
    return {"port": listener.protocol_port,
            "cidrs": sorted(each.cidr for each in listener.allowed_cidrs),
            "members": sorted(({"address": member.ip_address, "port": member.protocol_port} for member in usable),
                              key=lambda member: (member["address"], member["port"])),
            "check": _check(pool.health_monitor) if pool else None}


class Amphorae:
    """Without a folder, load balancers are only rows in Octavia's database."""

    def __init__(self, folder, network):
        self._folders = MachineFolders(folder) if folder else None
        self._network = network

    def ask(self, balancer):
        """Requests the machine of a load balancer in its desired state, unless that was requested already."""
        if self._folders is None:
            return
        before = self._folders.read(balancer.id, "request.json")
        name = f"amphora-{balancer.id[:8]}"
        addresses = before["addresses"] if before else [self._address(balancer.vip)]
        listeners = sorted((_listener(each) for each in balancer.listeners if each.enabled),
                           key=lambda each: each["port"])
        request = {"name": name, "hostname": name, "project": balancer.project_id, "power": "on", "boot": 1,
                   "addresses": addresses, "key": None, "listeners": listeners}
        if request != before:
            self._folders.ask(balancer.id, request)

    def state(self, balancer):
        """running, failed or pending"""
        if self._folders is None:
            return "running"
        answer = self._folders.read(balancer.id, "answer.json")
        return answer["state"] if answer else "pending"

    def remove(self, balancer):
        """Requests a machine's deletion. Returns whether it is gone."""
        if self._folders is None:
            return True
        self._folders.withdraw(balancer.id)
        return self._folders.is_gone(balancer.id)

    def _address(self, vip):
        port = self._network.get_port(vip.port_id)
        subnet = self._network.get_subnet(vip.subnet_id)
        return {"port": port.id, "mac": port.mac_address, "network": port.network_id, "cidr": subnet.cidr,
                "gateway": subnet.gateway_ip, "address": vip.ip_address}
