import { z } from "zod";
import { hostMistake } from "../../core/validation/addresses";
import { loopbackPortMistake } from "../../core/validation/ports";
import { exactlyOne, port, rule } from "./rule";

/** Exactly one of `loopback` and `external`; it can't change after init. */
export const EndpointConfiguration = exactlyOne(
  z.strictObject({
    loopback: z
      .strictObject({
        port: rule(port(), loopbackPortMistake).default(8443).describe("Port on 127.0.0.1 of every node."),
      })
      .optional()
      .describe("Built-in high availability: haproxy on every node in front of all control planes."),
    external: z
      .strictObject({
        host: rule(z.string(), hostMistake).describe("Host name or IPv4 address of the load balancer."),
        port: port().default(6443).describe("Port of the load balancer."),
      })
      .optional()
      .describe("A load balancer that exists and that foresail does not touch."),
  }),
);
