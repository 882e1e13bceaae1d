// A conversion webhook of controller-runtime as one writes it by hand: the first two versions of the workload of ../schemas, which
// differ in the name of one property. It listens on a free port of the loopback, prints it, and ends with its standard input.
package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
	webhook "sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
)

const group = "workloads.local"

type Common struct {
	ID         string               `json:"id"`
	Owner      Team                 `json:"owner"`
	Tier       string               `json:"tier,omitempty"`
	Replicas   int64                `json:"replicas"`
	Public     *bool                `json:"public,omitempty"`
	Load       *float64             `json:"load,omitempty"`
	CostCenter string               `json:"costCenter,omitempty"`
	Tags       []string             `json:"tags,omitempty"`
	Labels     map[string]string    `json:"labels,omitempty"`
	Limits     map[string]Limit     `json:"limits,omitempty"`
	Schedule   *Schedule            `json:"schedule,omitempty"`
	Containers []Container          `json:"containers"`
	Endpoints  []Endpoint           `json:"endpoints,omitempty"`
	Settings   runtime.RawExtension `json:"settings,omitempty"`
}

type Team struct {
	Name    string   `json:"name"`
	Email   string   `json:"email,omitempty"`
	Contact *Contact `json:"contact,omitempty"`
}

type Contact struct {
	Phone  string `json:"phone,omitempty"`
	Room   string `json:"room,omitempty"`
	OnCall *bool  `json:"onCall,omitempty"`
}

type Limit struct {
	Soft *int64 `json:"soft,omitempty"`
	Hard int64  `json:"hard"`
	Unit string `json:"unit,omitempty"`
}

type Schedule struct {
	Window string   `json:"window"`
	Days   []string `json:"days,omitempty"`
	Paused *bool    `json:"paused,omitempty"`
}

type Container struct {
	Name       string     `json:"name"`
	Image      string     `json:"image"`
	Command    []string   `json:"command,omitempty"`
	Variables  []Variable `json:"variables,omitempty"`
	CPU        *int64     `json:"cpu,omitempty"`
	Memory     *int64     `json:"memory,omitempty"`
	Privileged *bool      `json:"privileged,omitempty"`
	Probe      *Probe     `json:"probe,omitempty"`
}

type Variable struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}

type Probe struct {
	Path     string   `json:"path"`
	Port     *int64   `json:"port,omitempty"`
	Period   *float64 `json:"period,omitempty"`
	Failures *int64   `json:"failures,omitempty"`
}

type Endpoint struct {
	Name   string   `json:"name"`
	Port   int64    `json:"port"`
	Host   string   `json:"host,omitempty"`
	Secure *bool    `json:"secure,omitempty"`
	Weight *float64 `json:"weight,omitempty"`
}

// Older is the workload of 2020-01-01.
type Older struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Common            `json:",inline"`
	Title             string `json:"title"`
}

// Newer is the workload of 2021-01-01.
type Newer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Common            `json:",inline"`
	DisplayName       string `json:"displayName"`
}

func (*Newer) Hub() {}

func (source *Older) ConvertTo(hub conversion.Hub) error {
	target := hub.(*Newer)
	target.ObjectMeta, target.Common, target.DisplayName = source.ObjectMeta, source.Common, source.Title
	return nil
}

func (target *Older) ConvertFrom(hub conversion.Hub) error {
	source := hub.(*Newer)
	target.ObjectMeta, target.Common, target.Title = source.ObjectMeta, source.Common, source.DisplayName
	return nil
}

// Both are converted and encoded right away: nothing keeps them, so that a shallow copy is one.
func (source *Older) DeepCopyObject() runtime.Object { made := *source; return &made }
func (source *Newer) DeepCopyObject() runtime.Object { made := *source; return &made }

func main() {
	known := runtime.NewScheme()
	known.AddKnownTypeWithName(schema.GroupVersionKind{Group: group, Version: "v20200101", Kind: "Workload"}, &Older{})
	known.AddKnownTypeWithName(schema.GroupVersionKind{Group: group, Version: "v20210101", Kind: "Workload"}, &Newer{})
	certificate, err := tls.LoadX509KeyPair(os.Args[1], os.Args[1])
	check(err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	routes := http.NewServeMux()
	routes.Handle("/convert", webhook.NewWebhookHandler(known, webhook.NewRegistry()))
	server := &http.Server{Handler: routes}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Shutdown(context.Background())
	}()
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	// HTTP/1.1, as the clients of both sides speak it.
	configuration := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"http/1.1"}}
	_ = server.Serve(tls.NewListener(listener, configuration))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
