import { get } from "node:https";

/**
 * Returns whether an API server is ready. Like a load balancer, it sends no credentials and does not verify the
 * certificate, because only the status code is used.
 *
 * @param server host:port
 * @param milliseconds timeout for the response
 */
export function isReady(server: string, milliseconds = 3000): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(
      `https://${server}/readyz`,
      // a socket's own timeout restarts when it connects
      { rejectUnauthorized: false, signal: AbortSignal.timeout(milliseconds), agent: false },
      (response) => {
        response.resume();
        // a cluster without anonymous access responds with 401 or 403, which shows that it is up
        resolve([200, 401, 403].includes(response.statusCode ?? 0));
      },
    );
    request.on("error", () => resolve(false));
  });
}
