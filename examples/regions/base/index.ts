// What the clusters of a region share on OpenStack: a network, a DNS zone and the name of the image.
import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";

const configuration = new pulumi.Config();
const domain = configuration.require("domain"); // "eu1.example.com"
export const cidr = configuration.get("cidr") ?? "10.20.0.0/16";
export const image = configuration.get("image") ?? "debian-12";

const outside = openstack.networking.getNetworkOutput({ external: true });
const network = new openstack.networking.Network("base");
const subnet = new openstack.networking.Subnet("base", { networkId: network.id, cidr });
const router = new openstack.networking.Router("base", { externalNetworkId: outside.id });
new openstack.networking.RouterInterface("base", { routerId: router.id, subnetId: subnet.id });
const dns = new openstack.dns.Zone("base", { name: `${domain}.`, email: `hostmaster@${domain}` });

export const networkId = pulumi.all([network.id, subnet.id]).apply(([id]) => id);
export const zone = dns.name.apply((name) => name.replace(/\.$/, ""));
