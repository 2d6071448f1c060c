import * as pulumi from "@pulumi/pulumi";
import { FloatingIp } from "@pulumi/openstack/networking/floatingIp";
import { FloatingIpAssociate } from "@pulumi/openstack/networking/floatingIpAssociate";
import { whenMade } from "../../lib/pulumi/left-out";
import { markedDescription } from "../../lib/pulumi/marks";

/** What all cloud objects of a cluster have in common: the owner tag and the resource options. */
export class CloudObjects {
  /** Owner tag: distinguishes this stack's objects from those of another cluster with the same name. */
  readonly mark: pulumi.Output<string>;

  /** @param opts the options of every object in the cloud */
  constructor(
    readonly cluster: string,
    mark: pulumi.Input<string>,
    readonly opts: pulumi.CustomResourceOptions,
  ) {
    this.mark = pulumi.output(mark);
  }

  /** Returns the description of an object, with the owner tag. */
  described(words = ""): pulumi.Output<string> {
    return whenMade(this.mark, (mark) => markedDescription(mark, words));
  }

  /** Returns the name of an object of a kind that has no description: it ends with the owner tag. */
  named(name: string): pulumi.Output<string> {
    return whenMade(this.mark, (mark) => `${name}-${mark}`);
  }

  /** Creates a floating IP for a port. @returns its address, when the port has it */
  floatingIp(
    name: string,
    externalNetwork: string,
    portId: pulumi.Input<string>,
    dependsOn: pulumi.Resource[],
  ): pulumi.Output<string> {
    const description = this.described();
    const { address: floatingIp } = new FloatingIp(name, { pool: externalNetwork, description }, this.opts);
    const association = new FloatingIpAssociate(name, { floatingIp, portId }, { ...this.opts, dependsOn });
    return pulumi.all([association.floatingIp, association.id]).apply(([address]) => address);
  }
}
