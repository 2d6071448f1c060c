// Servers and their network alone, as a user would write them by hand: the minimum for any program with this provider.
import * as openstack from "@pulumi/openstack";
import { CLOUD_NAMES } from "../../sandbox/openstack/seed";
import { SERVERS_CIDR, wantedServers } from "./servers";

const NAME = "floor";

const external = openstack.networking.getNetworkOutput({ name: CLOUD_NAMES.publicNetwork });
const image = openstack.images.getImageOutput({ name: CLOUD_NAMES.image });
const flavor = openstack.compute.getFlavorOutput({ name: CLOUD_NAMES.flavor });

const network = new openstack.networking.Network(NAME, { name: NAME });
const subnet = new openstack.networking.Subnet(NAME, {
  name: NAME,
  networkId: network.id,
  cidr: SERVERS_CIDR,
  ipVersion: 4,
});
const router = new openstack.networking.Router(NAME, { name: NAME, externalNetworkId: external.id });
new openstack.networking.RouterInterface(NAME, { routerId: router.id, subnetId: subnet.id });

for (let index = 1; index <= wantedServers(); index++) {
  const name = `${NAME}-${index}`;
  const port = new openstack.networking.Port(name, {
    name,
    networkId: network.id,
    fixedIps: [{ subnetId: subnet.id }],
  });
  new openstack.compute.Instance(name, {
    name,
    imageId: image.id,
    flavorId: flavor.id,
    networks: [{ port: port.id }],
  });
}
