import assert from "node:assert/strict";
import type { RefusalCode } from "../../../../../providers/tumblebug/client";
import { refusalCode, remoteWords } from "../../../../../providers/tumblebug/client/errors";

interface Row {
  readonly says: string;
  readonly method?: string;
  readonly path?: string;
  readonly status: number;
  readonly text: string;
  readonly code: RefusalCode;
  /** default: the message */
  readonly words?: string;
}

const message = (words: string) => JSON.stringify({ message: words });

const ROWS: readonly Row[] = [
  { says: "bad credentials", status: 401, text: message("Unauthorized"), code: "Unauthorized" },
  { says: "too many requests", status: 429, text: message("rate limit exceeded"), code: "RateLimited" },
  {
    says: "the guard of the MCIS list",
    status: 503,
    text: message("timeout"),
    code: "Unavailable",
  },
  {
    says: "an absent namespace",
    status: 404,
    text: message("Not valid namespace"),
    code: "NamespaceNotFound",
  },
  {
    says: "a namespace with an invalid name",
    status: 404,
    text: message("The first character of name must be a lowercase letter, and all following …"),
    code: "NamespaceNotFound",
  },
  {
    says: "a namespace that exists",
    method: "POST",
    status: 400,
    text: message("CreateNs(); The namespace ns1 already exists."),
    code: "AlreadyExists",
  },
  {
    says: "a namespace that is not empty",
    method: "DELETE",
    status: 400,
    text: message(
      "Cannot delete NS ns1, which is not empty. There exists at least one MCIS or one of resources.",
    ),
    code: "InUse",
  },
  {
    says: "0.7: an object that is missing at a read",
    status: 404,
    text: message("Failed to find vNet v1"),
    code: "NotFound",
  },
  {
    says: "0.7: an object that is missing at a deletion",
    method: "DELETE",
    status: 500,
    text: message("The vNet v1 does not exist."),
    code: "NotFound",
  },
  {
    says: "0.7: an object that exists",
    method: "POST",
    status: 500,
    text: message("The vNet v1 already exists."),
    code: "AlreadyExists",
  },
  {
    says: "0.7: an MCIS that is missing",
    status: 404,
    text: message("The mcis k1 does not exist."),
    code: "NotFound",
  },
  {
    says: "0.7: a VM that could not be deleted, for whatever reason",
    method: "DELETE",
    status: 500,
    text: message("Failed to delete the VM info"),
    code: "Refused",
  },
  {
    says: "0.7: a true failure",
    method: "POST",
    status: 500,
    text: message("InvalidParameterValue: cidr"),
    code: "Refused",
  },
  {
    says: "0.7: an answer of CB-Spider in the message",
    method: "POST",
    status: 500,
    text: message(`${message("quota of VPCs is used up")}\n`),
    code: "Refused",
    words: "quota of VPCs is used up",
  },
  {
    says: "0.7: an answer of CB-Spider in an answer of CB-Spider",
    method: "POST",
    status: 500,
    text: message(message(message("already exists"))),
    code: "AlreadyExists",
    words: "already exists",
  },
  {
    says: "0.7: something that the cloud says is in use",
    method: "DELETE",
    status: 500,
    text: message(message("DependencyViolation: vpc-1 has dependencies and cannot be deleted")),
    code: "InUse",
    words: "DependencyViolation: vpc-1 has dependencies and cannot be deleted",
  },
  {
    says: "0.7: a termination that is not allowed",
    status: 500,
    text: message("Terminate is not allowed for MCIS under Creating:3 (R:0/3)"),
    code: "NotAllowedNow",
  },
  {
    says: "0.7: the deletion of an MCIS that runs",
    method: "DELETE",
    status: 500,
    text: message(
      "MCIS k1 is Running:3 (R:3/3) and not Terminated/Undefined/Failed, Deletion is not allowed (use option=force …)",
    ),
    code: "NotAllowedNow",
  },
  {
    says: "a connection that CB-Spider does not know",
    path: "/connConfig/x",
    status: 404,
    text: message("connection config 'x' does not exist!"),
    code: "NotFound",
  },
  {
    says: "a connection that can't be read, in plain text",
    path: "/connConfig/x",
    status: 404,
    text: "an error occurred while requesting to CB-Spider",
    code: "SpiderDown",
    words: "an error occurred while requesting to CB-Spider",
  },
  {
    says: "a lookup whose 404 is no JSON",
    method: "POST",
    path: "/lookupSpec",
    status: 404,
    text: "<html>404</html>",
    code: "SpiderDown",
    words: "<html>404</html>",
  },
  {
    says: "a Spider that refuses connections, in JSON",
    method: "POST",
    path: "/ns/ns1/resources/vNet",
    status: 500,
    text: message(
      'Post "http://localhost:1024/spider/vpc": dial tcp 127.0.0.1:1024: connect: connection refused',
    ),
    code: "SpiderDown",
  },
  {
    says: "today: a missing infra",
    status: 500,
    text: message("The infra k1 does not exist."),
    code: "NotFound",
  },
  {
    says: "today: a missing security group",
    status: 400,
    text: message("Failed to find securityGroup g1"),
    code: "NotFound",
  },
  {
    says: "today: a connection that is missing",
    path: "/connConfig/x",
    status: 500,
    text: message("Cannot find the connection x"),
    code: "NotFound",
  },
  {
    says: "today: a vNet that exists",
    method: "POST",
    status: 409,
    text: message("already exists, vNet: v1"),
    code: "AlreadyExists",
  },
  {
    says: "today: an infra that exists",
    method: "POST",
    status: 500,
    text: message("Infra 'k1' already exists in namespace 'ns1'"),
    code: "AlreadyExists",
  },
  {
    says: "today: a name that an unfinished deletion holds",
    method: "POST",
    status: 409,
    text: message(
      "previous deletion of sshKey 'k1' is unconfirmed (status=Deleting); retry DELETE to complete it, or DELETE with force",
    ),
    code: "DeletionPending",
  },
  {
    says: "today: a deletion that is not confirmed",
    method: "DELETE",
    status: 409,
    text: message("securityGroup 'g1' still exists on the CSP although Spider reported successful deletion"),
    code: "DeletionPending",
  },
  {
    says: "today: a deletion that answers 409 in other words",
    method: "DELETE",
    status: 409,
    text: message("come back later"),
    code: "DeletionPending",
  },
  {
    says: "today: a vNet with subnets",
    method: "DELETE",
    status: 500,
    text: message("cannot delete vNet (v1): has 1 subnet(s); use action=withSubnets or action=force"),
    code: "InUse",
  },
  {
    says: "today: an object that others use",
    method: "DELETE",
    status: 500,
    text: message(" [Failed] g1 Associated with [/ns/ns1/infra/k1/node/w-1-1]"),
    code: "InUse",
    words: "[Failed] g1 Associated with [/ns/ns1/infra/k1/node/w-1-1]",
  },
  {
    says: "today: a node whose end is not confirmed",
    method: "DELETE",
    status: 400,
    text: message("node w-1-1 not yet confirmed terminated (status=Terminating); retry shortly"),
    code: "NotAllowedNow",
  },
  {
    says: "today: a termination that continues",
    method: "DELETE",
    path: "/ns/ns1/infra/k1",
    status: 500,
    text: message(
      "Infra k1 is still Partial-Terminating:1 (R:0/3) — termination is in progress. Please retry deletion in a few minutes",
    ),
    code: "NotAllowedNow",
  },
  {
    says: "today: an infra that is being changed",
    path: "/ns/ns1/control/infra/k1",
    status: 500,
    text: message("Infra k1 is under Create, please try later"),
    code: "NotAllowedNow",
  },
  {
    says: "a request that the server does not know",
    path: "/ns/ns1/mcis/k1",
    status: 404,
    text: message("Not Found"),
    code: "NoSuchRoute",
  },
  {
    says: "a creation whose name must not be empty",
    method: "POST",
    path: "/ns/ns1/resources/vNet",
    status: 400,
    text: message("cidrBlock is not empty and not found"),
    code: "Refused",
  },
  {
    says: "control characters and marks of another writing direction",
    status: 500,
    text: message("quota\u001b[2J\u202e of\r\nVMs"),
    code: "Refused",
    words: "quota\\u{1b}[2J\\u{202e} of VMs",
  },
  { says: "an empty answer", status: 500, text: "", code: "Refused", words: "nothing" },
];

describe("what Tumblebug's error answers mean", () => {
  for (const { says, method = "GET", path = "/ns/ns1", status, text, code, words } of ROWS)
    it(`${says}: ${code}`, () => {
      assert.equal(refusalCode({ method, path }, status, text), code);
      const expected = words ?? (JSON.parse(text) as { message: string }).message;
      assert.equal(remoteWords(text), expected);
    });
});
