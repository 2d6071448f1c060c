/** Certificates for tests come from the same authority as the sandbox's own. */
export { Authority as TestAuthority, type Certificate } from "../../sandbox/management/authority";
