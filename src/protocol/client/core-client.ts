import type { JsonObject } from "../../text/json-object.ts";
import { PromisedRequest } from "../channel/pending-requests.ts";
import { RpcChannel } from "../channel/rpc-channel.ts";
import { negotiateEra } from "../era/negotiate-era.ts";
import type { ConnectProtocol } from "../protocol-client.ts";
import { withMeta } from "../wire/json-rpc.ts";
import { NegotiatedClient } from "./negotiated-client.ts";
import type { RequestSender } from "./request-path.ts";

/** Plugboard's own protocol: requests go straight to the channel. */
export const connectWithCore: ConnectProtocol = async (transport, options) => {
  const channel = new RpcChannel(transport, options);
  const negotiated = await negotiateEra(channel, options);
  const sender = createCoreSender(channel, negotiated.envelope);
  return new NegotiatedClient({ channel, negotiated, sender, options });
};

/** `envelope` is what the modern era wants in every message; it is built once and shared by all. */
function createCoreSender(channel: RpcChannel, envelope: JsonObject | undefined): RequestSender {
  return {
    request(outgoing, read) {
      const { method, params, options } = outgoing;
      const isReady = envelope === undefined || params["_meta"] === envelope;
      const request = new PromisedRequest(
        isReady ? outgoing : { method, params: withMeta(params, envelope), options },
        read,
      );
      channel.request(request);
      return request.promise;
    },
    notify: (method, params) => channel.notify(method, params),
  };
}
