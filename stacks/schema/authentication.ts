import { z } from "zod";
import { oidcIssues } from "../../providers/kubeadm/plan/hardening/validation";
import { rules } from "./rule";

const claim = () => z.string().describe("Claim of the token.");

const Issuer = z.strictObject({
  issuer: z
    .strictObject({
      url: z.string().describe("https URL of the issuer, as tokens have it in `iss`."),
      audiences: z.array(z.string()).describe("Client IDs: one of them must be in the token's `aud`."),
      certificateAuthority: z
        .string()
        .optional()
        .describe(
          "PEM certificates that the issuer's certificate is verified with; when absent, the system's.",
        ),
    })
    .describe("Issuer of OpenID Connect tokens."),
  claimMappings: z
    .strictObject({
      username: z
        .strictObject({
          claim: claim(),
          prefix: z.string().describe('Put before the user name, such as "oidc:"; may be "".'),
        })
        .describe("Claim with the user name."),
      groups: z
        .strictObject({
          claim: claim(),
          prefix: z.string().describe('Put before each group, such as "oidc:"; may be "".'),
        })
        .optional()
        .describe("Claim with the groups."),
    })
    .describe("Which user and groups a token stands for."),
  claimValidationRules: z
    .array(
      z.strictObject({
        claim: claim(),
        requiredValue: z.string().describe("Value that the claim must have."),
      }),
    )
    .default([])
    .describe("Claims that a token must have."),
});

/** Schema of `cluster.authentication`. */
export const AuthenticationConfiguration = z.strictObject({
  oidc: rules(z.array(Issuer), oidcIssues)
    .default([])
    .describe("Issuers of OpenID Connect tokens that the API servers accept."),
});
