import { DEFAULT_LOOPBACK } from "../../providers/kubeadm/plan/defaults";
import { z } from "zod";
import { hostIssue } from "../../lib/validation/addresses";
import { API_SERVER_PORT, apiPortIssue, loopbackPortIssue } from "../../lib/validation/ports";
import { exactlyOne, port, rule } from "./rule";

const apiPort = () =>
  rule(port(), apiPortIssue).default(API_SERVER_PORT).describe("Port of the load balancer.");

const ENDPOINTS = {
  loopback: z
    .strictObject({
      port: rule(port(), loopbackPortIssue)
        .default(DEFAULT_LOOPBACK.port)
        .describe("Port on 127.0.0.1 of every node."),
    })
    .optional()
    .describe("Built-in high availability: haproxy on every node in front of all control planes."),
  external: z
    .strictObject({
      host: rule(z.string(), hostIssue).describe("Host name or IPv4 address of the load balancer."),
      port: apiPort(),
    })
    .optional()
    .describe(
      "A load balancer that exists and that foresail does not touch. The kubeconfig names it first, unless control planes are reached in another way.",
    ),
};

/** Schema of an endpoint: exactly one of `loopback` and `external`. It can't change after init. */
export const EndpointConfiguration = exactlyOne(z.strictObject(ENDPOINTS));

/** Schema of an endpoint: exactly one of `loopback`, `external` and `nlb`. */
export const TumblebugEndpoint = exactlyOne(
  z.strictObject({
    ...ENDPOINTS,
    nlb: z
      .strictObject({
        port: apiPort(),
      })
      .optional()
      .describe(
        "A load balancer of the cloud in front of all control planes, made by the stack; their number can't change then.",
      ),
  }),
);

/** Schema of an endpoint: exactly one of `loopback`, `external` and `octavia`. */
export const OpenstackEndpoint = exactlyOne(
  z.strictObject({
    ...ENDPOINTS,
    octavia: z
      .strictObject({
        floatingIp: z.boolean().default(false).describe("Give the load balancer a floating IP."),
      })
      .optional()
      .describe("A load balancer of the cloud (Octavia) in front of all control planes, made by the stack."),
  }),
);
