import type { IAuthenticateGeneric, ICredentialTestRequest, ICredentialType, Icon, INodeProperties } from "n8n-workflow";

export class TillgateApi implements ICredentialType {
  name = "tillgateApi";
  displayName = "Tillgate API";
  icon: Icon = "file:../tillgate.svg";
  properties: INodeProperties[] = [
    {
      displayName: "Server Address",
      name: "baseUrl",
      type: "string",
      default: "",
      required: true,
      placeholder: "https://pay.example.com",
    },
    {
      displayName: "Secret Key",
      name: "apiKey",
      type: "string",
      typeOptions: { password: true },
      default: "",
      required: true,
      placeholder: "svc_sk_test_…",
      description: "It decides the mode: test keys take play money only",
    },
  ];
  authenticate: IAuthenticateGeneric = {
    type: "generic",
    properties: { headers: { Authorization: "=Bearer {{$credentials.apiKey}}" } },
  };
  test: ICredentialTestRequest = {
    request: { baseURL: '={{$credentials.baseUrl.replace(/\\/+$/, "")}}/api/v2', url: "/payments", qs: { per_page: 1 } },
  };
}
