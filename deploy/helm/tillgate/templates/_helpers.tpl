{{/* Names and labels. */}}
{{- define "tillgate.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "tillgate.selector" -}}
app.kubernetes.io/name: tillgate
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "tillgate.labels" -}}
{{ include "tillgate.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "tillgate.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* The host that probes and scrapes name, as the reverse proxy would. */}}
{{- define "tillgate.host" -}}
{{- (urlParse .Values.settings.PUBLIC_URL).host -}}
{{- end -}}

{{/* Processes that run as Deployments: what each runs, which Secrets it gets, and its queue. The commands are those of compose.yaml. */}}
{{- define "tillgate.processes" -}}
web:
  values: web
  secrets: [web]
worker:
  values: worker
  secrets: [worker, approvals]
  queue: celery
  concurrency: 2
worker-test:
  values: workerTest
  secrets: [worker, approvals]
  queue: test
  concurrency: 1
webhooks:
  values: webhooks
  secrets: [worker]
  queue: webhooks
  concurrency: 1
reports:
  values: reports
  secrets: [worker]
  queue: reports
  concurrency: 1
documents:
  values: documents
  secrets: [worker]
  queue: documents
  concurrency: 2
clocks:
  values: clocks
  secrets: [worker, approvals]
  queue: test_clocks
  concurrency: 2
beat:
  values: beat
  secrets: [worker]
  command: [celery, -A, config.celery, beat, --loglevel, INFO, --pidfile, "", --schedule, /srv/tillgate/var/run/beat-schedule]
watcher:
  values: watcher
  secrets: [watcher]
  command: [python, manage.py, watch_chains]
{{- end -}}

{{/* Settings that aren't secret. As a list and not a ConfigMap, so that the hook has them before anything else is there. */}}
{{- define "tillgate.env" -}}
{{- $settings := dict "TILLGATE_ENV" "production" -}}
{{- if .Values.pooler.enabled -}}
{{- $settings = merge $settings (dict "DATABASE_POOLER" "true" "DATABASE_PREPARED_STATEMENTS" "true" "DATABASE_POOLER_CONSOLE" "true") -}}
{{- end -}}
{{- range $name, $value := merge (dict) .Values.settings $settings }}
- name: {{ $name }}
  value: {{ $value | toString | quote }}
{{- end -}}
{{- end -}}

{{- define "tillgate.envFrom" -}}
{{- range $name := prepend .secrets "common" }}
- secretRef:
    name: {{ required (printf "secrets.%s is empty" $name) (index $.root.Values.secrets $name) }}
{{- end -}}
{{- end -}}

{{- define "tillgate.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "tillgate.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* What a process may write. Files that outlive it are in the bucket, or in the claim. */}}
{{- define "tillgate.volumes" -}}
- name: tmp
  emptyDir: {}
# In memory: processes count there, with every request.
- name: run
  emptyDir: {medium: Memory, sizeLimit: 64Mi}
{{- if .Values.storage.existingClaim }}
- name: files
  persistentVolumeClaim:
    claimName: {{ .Values.storage.existingClaim }}
{{- else }}
- name: private
  emptyDir: {}
{{- end }}
{{- end -}}

{{- define "tillgate.volumeMounts" -}}
- name: tmp
  mountPath: /tmp
- name: run
  mountPath: /srv/tillgate/var/run
{{- if .Values.storage.existingClaim }}
- name: files
  mountPath: /srv/tillgate/var/media
  subPath: media
- name: files
  mountPath: /srv/tillgate/var/private
  subPath: private
{{- else }}
{{- if not .Values.settings.S3_BUCKET }}
{{- fail "set settings.S3_BUCKET, or storage.existingClaim: web and workers share files" }}
{{- end }}
- name: private
  mountPath: /srv/tillgate/var/private
{{- end }}
{{- end -}}

{{- define "tillgate.placement" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Of a process without a port: the file that its loop touches, and who looks at it. */}}
{{- define "tillgate.aliveFile" -}}
- name: ALIVE_FILE
  value: /srv/tillgate/var/run/alive
{{- end }}

{{- define "tillgate.aliveProbes" -}}
startupProbe:
  exec: &alive
    command: [python, -m, config.alive]
  periodSeconds: 5
  timeoutSeconds: 10
  failureThreshold: 60
livenessProbe:
  exec: *alive
  periodSeconds: 30
  timeoutSeconds: 10
  failureThreshold: 3
{{- end }}
