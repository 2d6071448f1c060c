"""Octavia's provider that accepts everything and leaves the VIP's port to Neutron."""
from octavia.api.drivers.noop_driver import driver
from octavia_lib.api.drivers import exceptions


class ForesailBalancer(driver.NoopProviderDriver):
    def create_vip_port(self, *arguments, **named):
        why = "Neutron makes the port"
        raise exceptions.NotImplementedError(user_fault_string=why, operator_fault_string=why)
